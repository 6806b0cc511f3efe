"""Command-line options, and checks of files, that several verbs share."""
