import { hookTables, watchCounts } from '../hooks/hook-tables.js'
import { ownerTables, sessionTables } from '../sessions/session-tables.js'
import type { SchemaWords } from './schema-words.js'
import { oneLedger, ordersOfAgreements, receiptTables } from './shop-tables.js'

/**
 * The newer steps of the schema, the same in each database. A step that was released is never
 * edited: a change is a new step at the end.
 */
export function laterSteps(words: SchemaWords): readonly string[] {
  return [
    noticeColumns(words),
    orderOfAgreement(words),
    oneLedger(words),
    `
    ${sessionTables(words)}
    CREATE INDEX sessions_of_email ON sessions (${words.emailKey});
    ${words.anyPurpose}
    `,
    receiptTables(words),
    ownerTables(words),
    versionsTable(words),
    hookTables(words),
    versionChanges(words) + watchCounts(words),
    orderIndex,
  ]
}

function noticeColumns({ integer, text }: SchemaWords): string {
  return `
  -- What callers may misread in the served version: a JSON list of texts.
  ALTER TABLE dataset_state ADD COLUMN warnings ${text} NOT NULL DEFAULT '[]';
  -- Since when the reason is the same.
  ALTER TABLE dataset_state ADD COLUMN reason_since ${integer};
  -- The one dataset that a forced reload is about.
  ALTER TABLE reloads ADD COLUMN dataset ${text};
  `
}

function orderOfAgreement({ text, bytes }: SchemaWords): string {
  return `
  -- The order that made the agreement; not a reference, because orders refer to agreements.
  ALTER TABLE agreements ADD COLUMN order_id ${text};
  ${ordersOfAgreements}
  -- Keyed hashes of the networks around the client's: IPv6 /56; IPv4 /16 and IPv6 /48.
  ALTER TABLE email_codes ADD COLUMN wider_network ${bytes};
  ALTER TABLE email_codes ADD COLUMN widest_network ${bytes};
  CREATE INDEX email_codes_of_wider_network ON email_codes (wider_network, created_at);
  CREATE INDEX email_codes_of_widest_network ON email_codes (widest_network, created_at);
  `
}

/** The versions of datasets, in the order of their publication. */
function versionsTable({ integer, text, end }: SchemaWords): string {
  return `
  CREATE TABLE dataset_versions (
    dataset ${text} NOT NULL,
    number ${integer} NOT NULL,
    version ${text} NOT NULL,
    -- The version that it replaced; NULL for the first one.
    previous ${text},
    as_of ${text},
    rows ${integer} NOT NULL,
    published_at ${integer} NOT NULL,
    PRIMARY KEY (dataset, number)
  ) ${end};
  `
}

function versionChanges({ text }: SchemaWords): string {
  return `
  -- From \`previous\`: 'ready', 'none', or NULL while nothing is known.
  ALTER TABLE dataset_versions ADD COLUMN changes ${text};
  -- Why there are none.
  ALTER TABLE dataset_versions ADD COLUMN changes_reason ${text};
  `
}

const orderIndex = `
  -- What counts and reports read of orders, and how lists find theirs: whole ones hold papers.
  CREATE INDEX orders_by_state ON orders
    (state, entry, ordered_at, done_at, pay_until, by_owner, amount_rub);
  `
