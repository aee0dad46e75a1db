import type { SchemaWords } from './schema-words.js'

/** Agents that signed in, and their secrets. */
export function connectionTables({ integer, text, bytes, end, keyed }: SchemaWords): string {
  return `
  -- An agent that signed in. It ends with its token.
  CREATE TABLE connections (
    id ${text} NOT NULL PRIMARY KEY,
    -- NULL: made with the public demo token.
    subscription_id ${text} REFERENCES subscriptions (id),
    token_id ${text} REFERENCES tokens (id),
    -- By a mailed code: then the token was the newest of the subscription, and was not shown.
    made_by ${text} NOT NULL CHECK (made_by IN ('token', 'mail')),
    demo_hash ${bytes} CHECK (length(demo_hash) = 32),
    client_id ${text} NOT NULL,
    client_name ${text} NOT NULL,
    redirect_uri ${text} NOT NULL,
    created_at ${integer} NOT NULL,
    -- When the agent took its first secrets; NULL until then.
    connected_at ${integer},
    last_used_at ${integer},
    ended_at ${integer},
    end_reason ${text} CHECK (end_reason IN ('revoked', 'replayed', 'disconnected', 'displaced')),
    CHECK ((subscription_id IS NULL) = (token_id IS NULL)),
    CHECK ((subscription_id IS NULL) = (demo_hash IS NOT NULL)),
    CHECK ((ended_at IS NULL) = (end_reason IS NULL))
  ) ${end};

  CREATE INDEX connections_of_subscription ON connections (subscription_id, created_at);
  CREATE INDEX connections_of_token ON connections (token_id);

  CREATE TABLE connection_secrets (
    hash ${bytes} NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    connection_id ${text} NOT NULL REFERENCES connections (id),
    kind ${text} NOT NULL CHECK (kind IN ('code', 'access', 'refresh')),
    -- Only of a code: what its verifier must hash to.
    code_challenge ${text},
    -- Only of a refresh token: the one that it replaced.
    parent ${bytes},
    created_at ${integer} NOT NULL,
    expires_at ${integer} NOT NULL,
    used_at ${integer},
    -- Only of a refresh token: when one that replaced it was first used.
    followed_at ${integer},
    CHECK ((kind = 'code') = (code_challenge IS NOT NULL))
  ) ${keyed};

  CREATE INDEX secrets_of_connection ON connection_secrets (connection_id, kind, created_at);
  CREATE INDEX secrets_by_end ON connection_secrets (expires_at);

  -- Only in a letter about a connection; NULL once the connection is removed.
  ALTER TABLE letters ADD COLUMN connection_id ${text}
    REFERENCES connections (id) ON DELETE SET NULL;
  CREATE INDEX letters_of_connection ON letters (connection_id) WHERE connection_id IS NOT NULL;
  CREATE INDEX connection_letters ON letters (subscription_id, created_at)
    WHERE kind = 'connection-made';
  `
}
