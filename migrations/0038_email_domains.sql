-- One address has one folded form, whichever form of an internationalised domain it is written with. Users who hold both forms
-- of an address keep them: of these the one with the xn-- form is found by its username alone.
UPDATE OR IGNORE backend_member SET email = fold_email(email)
WHERE email LIKE '%@%xn--%'
  AND EXISTS (SELECT 1 FROM user u WHERE u.email_folded = backend_member.email)
  AND NOT EXISTS (SELECT 1 FROM user u WHERE u.email_folded = fold_email(backend_member.email));

UPDATE OR IGNORE user SET email_folded = fold_email(email_folded)
WHERE email_folded LIKE '%@%xn--%';

UPDATE hook_confirmation SET email_folded = fold_email(email_folded)
WHERE email_folded LIKE '%@%xn--%';
