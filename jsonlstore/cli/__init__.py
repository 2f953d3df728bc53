"""The command line: a thin skin over the other rooms, one module for each group of commands.

`entry` is the console script. It sends a hook call straight to `hook`, which loads neither click nor SQLite; every
other command line goes to `main`, which loads only the module of the command it runs. `app` puts settings, store,
brain.db and manager together for both. `console` has the options and the output that commands share, `formatting`
what fits a terminal.
"""
