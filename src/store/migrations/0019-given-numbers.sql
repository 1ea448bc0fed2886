-- What a shop has said of its customer, so that the hosted page need not ask for it.
alter table checkout add column given_msisdn text, add column given_wallet_number text, add column given_flash_number text;
alter table archive.checkout add column given_msisdn text, add column given_wallet_number text, add column given_flash_number text;
