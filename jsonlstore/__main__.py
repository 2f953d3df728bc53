"""`python -m jsonlstore`."""

from jsonlstore.cli.entry import run

if __name__ == "__main__":
    run()
