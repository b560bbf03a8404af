"""Who may do what: users, rights, access lists, and the check before each rule."""
