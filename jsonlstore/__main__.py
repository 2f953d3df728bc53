"""`python -m jsonlstore`."""

from jsonlstore.cli.main import run

if __name__ == "__main__":
    run()
