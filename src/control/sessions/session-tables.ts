import type { SchemaWords } from '../store/schema-words.js'

/** The step of the schema for people who sign in. */
export function sessionTables({ integer, text, bytes, email, end }: SchemaWords): string {
  return `
  -- A person who proved an address in a browser; ended ones are removed.
  CREATE TABLE sessions (
    id ${text} NOT NULL PRIMARY KEY,
    hash ${bytes} NOT NULL UNIQUE CHECK (length(hash) = 32),
    email ${email} NOT NULL,
    -- The subscription that pays, where the person chose one of several.
    subscription_id ${text} REFERENCES subscriptions (id),
    created_at ${integer} NOT NULL,
    last_used_at ${integer} NOT NULL
  ) ${end};
  CREATE INDEX sessions_by_use ON sessions (last_used_at);

  -- What scripts of the portal show to /v1; they end with their session.
  CREATE TABLE session_secrets (
    hash ${bytes} NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    session_id ${text} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    subscription_id ${text} NOT NULL REFERENCES subscriptions (id),
    expires_at ${integer} NOT NULL
  ) ${end};
  CREATE INDEX secrets_of_session ON session_secrets (session_id, expires_at);
  CREATE INDEX session_secrets_by_end ON session_secrets (expires_at);
  `
}

/** The step for the owner's page. */
export function ownerTables({ integer, text, bytes, end }: SchemaWords): string {
  return `
  -- Whose page the session opens: the kinds are in sessions.ts.
  ALTER TABLE sessions ADD COLUMN kind ${text} NOT NULL DEFAULT 'subscriber';

  -- The links in letters to the owners; a row goes when its link is used.
  CREATE TABLE order_links (
    hash ${bytes} NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    order_id ${text} NOT NULL REFERENCES orders (id) ON DELETE CASCADE,
    amount_rub ${integer} NOT NULL,
    expires_at ${integer} NOT NULL
  ) ${end};
  CREATE INDEX order_links_of_order ON order_links (order_id);
  CREATE INDEX order_links_by_end ON order_links (expires_at);

  -- Refused requests of a day, UTC, counted from the epoch.
  CREATE TABLE refusals (
    day ${integer} NOT NULL,
    code ${text} NOT NULL,
    requests ${integer} NOT NULL,
    PRIMARY KEY (day, code)
  ) ${end};
  `
}
