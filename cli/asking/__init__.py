"""What is asked on a command line, where several verbs understand the same: files, options, and whether it can be solved."""
