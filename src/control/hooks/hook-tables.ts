import type { SchemaWords } from '../store/schema-words.js'

/** The step of the schema for watch lists and webhooks. */
export function hookTables(words: SchemaWords): string {
  return webhookTables(words) + eventTables(words)
}

function webhookTables({ integer, text, end }: SchemaWords): string {
  return `
  -- Values of a dataset's column that a subscription watches; value_list and fields are JSON lists.
  CREATE TABLE watch_lists (
    subscription_id ${text} NOT NULL REFERENCES subscriptions (id),
    name ${text} NOT NULL,
    dataset ${text} NOT NULL,
    column_name ${text} NOT NULL,
    value_list ${text} NOT NULL,
    fields ${text} NOT NULL,
    PRIMARY KEY (subscription_id, name)
  ) ${end};

  CREATE TABLE webhooks (
    id ${text} NOT NULL PRIMARY KEY,
    subscription_id ${text} NOT NULL REFERENCES subscriptions (id),
    url ${text} NOT NULL,
    -- Types of events, with a space between them.
    events ${text} NOT NULL,
    watch ${text},
    state ${text} NOT NULL CHECK (state IN ('active', 'ended')),
    created_at ${integer} NOT NULL,
    -- The secret is made of a key and this number.
    secret_number ${integer} NOT NULL,
    secret_changed_at ${integer} NOT NULL,
    -- The number of its last delivery.
    last_n ${integer} NOT NULL,
    FOREIGN KEY (subscription_id, watch) REFERENCES watch_lists (subscription_id, name)
  ) ${end};
  CREATE INDEX webhooks_of_subscription ON webhooks (subscription_id);
  `
}

/** The step of the schema that keeps how many values a list has. */
export function watchCounts({ integer, listLength }: SchemaWords): string {
  return `
  ALTER TABLE watch_lists ADD COLUMN value_count ${integer} NOT NULL DEFAULT 0;
  UPDATE watch_lists SET value_count = ${listLength('value_list')};
  `
}

function eventTables({ integer, text, id, end }: SchemaWords): string {
  return `
  -- What happened, once: occasion is the version, the month, or the end.
  CREATE TABLE events (
    id ${id},
    type ${text} NOT NULL,
    -- Empty where an event is about all subscriptions, or about all datasets.
    subscription_id ${text} NOT NULL,
    dataset ${text} NOT NULL,
    occasion ${text} NOT NULL,
    data ${text} NOT NULL,
    created_at ${integer} NOT NULL,
    UNIQUE (type, subscription_id, dataset, occasion)
  ) ${end};

  CREATE TABLE deliveries (
    webhook_id ${text} NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    n ${integer} NOT NULL,
    event_id ${integer} NOT NULL REFERENCES events (id),
    state ${text} NOT NULL CHECK (state IN ('waiting', 'sent', 'failed')),
    created_at ${integer} NOT NULL,
    -- The begin of the three days in which it is tried.
    tried_from ${integer} NOT NULL,
    attempts ${integer} NOT NULL,
    next_attempt_at ${integer} NOT NULL,
    held_until ${integer},
    -- Of the last attempt.
    attempted_at ${integer},
    status ${integer},
    error ${text},
    PRIMARY KEY (webhook_id, n)
  ) ${end};
  CREATE INDEX deliveries_waiting ON deliveries (next_attempt_at, webhook_id, n)
    WHERE state = 'waiting';
  CREATE INDEX deliveries_by_age ON deliveries (created_at);
  CREATE INDEX deliveries_of_event ON deliveries (event_id);
  `
}
