-- A balance is a sum of amounts that are 64 bits each: some ninety of the largest were its end, and with it that of everybody whose
-- payments go by the same upstream's account. The table is rewritten, and held as long.
alter table account alter column balance type numeric(38, 0);
