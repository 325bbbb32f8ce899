"""Detection, masking, pseudonymization and removal of private data in texts, records and folders."""
