import type { SchemaWords } from './schema-words.js'

/** What a subscription holds and uses. */
export function grantTables({ integer, text, bytes, isMonth, end, keyed }: SchemaWords): string {
  return `
  CREATE TABLE grants (
    subscription_id ${text} NOT NULL REFERENCES subscriptions (id),
    dataset ${text} NOT NULL,
    plan ${text} NOT NULL,
    PRIMARY KEY (subscription_id, dataset)
  ) ${keyed};

  CREATE TABLE tokens (
    id ${text} NOT NULL PRIMARY KEY,
    subscription_id ${text} NOT NULL REFERENCES subscriptions (id),
    hash ${bytes} NOT NULL UNIQUE CHECK (length(hash) = 32),
    hint ${text} NOT NULL,
    created_at ${integer} NOT NULL,
    expires_at ${integer},
    revoked_at ${integer},
    last_used_at ${integer}
  ) ${end};
  CREATE INDEX tokens_of_subscription ON tokens (subscription_id);

  -- Period before dataset: the newest period and the sum over datasets are one seek each.
  CREATE TABLE usage (
    subscription_id ${text} NOT NULL REFERENCES subscriptions (id),
    period ${text} NOT NULL CHECK (${isMonth}),
    dataset ${text} NOT NULL,
    rows ${integer} NOT NULL CHECK (rows >= 0),
    PRIMARY KEY (subscription_id, period, dataset)
  ) ${keyed};
  `
}

/** What changes of subscriptions agreed on, and the subscription after each; never edited. */
export function agreementTable(name: string, words: SchemaWords): string {
  const { integer, text, id, json, end } = words
  return `
  CREATE TABLE ${name} (
    id ${id},
    subscription_id ${text} NOT NULL REFERENCES subscriptions (id),
    ordered_at ${integer} NOT NULL,
    kind ${text} NOT NULL CHECK (kind IN ('create', 'extend', 'change', 'cancel')),
    months ${integer},
    price_rub ${integer},
    grants ${json('grants')},
    global_rows ${integer},
    expires_at ${integer} NOT NULL
  ) ${end};
  CREATE INDEX ${name}_of_subscription ON ${name} (subscription_id, id);
  `
}

/** What a server and the command line tell each other. */
export function serverTables({ integer, text, id, end, keyed }: SchemaWords): string {
  return `
  -- The state that a server reported last: it replaces all rows when it starts.
  CREATE TABLE dataset_state (
    dataset ${text} NOT NULL PRIMARY KEY,
    version ${text},
    status ${text} NOT NULL CHECK (status IN ('serving', 'stale', 'unavailable')),
    reason ${text},
    rows ${integer},
    files ${integer},
    stored ${text},
    packing ${text},
    disk_bytes ${integer} NOT NULL,
    earlier ${integer} NOT NULL,
    updated_at ${integer} NOT NULL
  ) ${keyed};

  CREATE TABLE registry_state (
    id ${integer} PRIMARY KEY CHECK (id = 1),
    reason ${text},
    updated_at ${integer} NOT NULL
  ) ${end};

  -- Requests of the command line to the server: das dataset reload.
  CREATE TABLE reloads (
    id ${id},
    force ${integer} NOT NULL CHECK (force IN (0, 1)),
    requested_at ${integer} NOT NULL,
    taken_at ${integer},
    finished_at ${integer}
  ) ${end};
  `
}
