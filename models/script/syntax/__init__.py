"""The grammar of bash: a text becomes commands and words, each with its place."""
