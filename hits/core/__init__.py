"""What every capability stands on: verbs and lists that are declared once, and what is made from a declaration.

`targets` says what verbs and lists are about, `verbs` and `lists` hold the declarations, `api` makes routes of them and
`pages` forms, and `checks` refuses at start what is declared wrongly.
"""
