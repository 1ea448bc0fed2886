-- What merchants ask of their webhooks: the events of one transaction.

create index webhook_event_of_transaction on webhook_event (merchant_id, transaction_id, id, shard);
