"""The most that is taken at once of what somebody sends, by the sites and by what stands before them; in MB."""

MB = 1024 * 1024
# A file of items. Larger collections come in parts.
IMPORT_MB = 64
# Pictures, sounds and videos of one archive: they are kept in the database and in each of its backups.
MEDIA_MB = 512
# A form of the marketplace, whose pages take no files: an answer may have 2,621,440 bytes.
MARKETPLACE_FORM_MB = 3
