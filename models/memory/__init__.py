"""What a component needs of the memory of an accelerator, estimated term by term from its model and how it is run."""
