"""Reports as HTML pages: one file without network, framework or inline handlers, in which everything is escaped."""
