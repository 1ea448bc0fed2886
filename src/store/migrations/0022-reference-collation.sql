-- An index is in the order of its column's collation, and that of a locale is another one after an upgrade of the system's library, or
-- on a replica with another: what lies in the index is then not found, such as what has already paid an order. No table is rewritten,
-- but its index by this column is made anew, and the table is held as long: each table in a file of its own, so that payments do not
-- wait for the index of the archive, which is many times as large.
alter table payment alter column customer_reference type text collate "C";
