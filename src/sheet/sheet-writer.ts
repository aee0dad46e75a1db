import { CallThread } from '../call-thread.js'
import { unavailable } from '../errors.js'
import type { Sheet } from './sheet.js'

const waitingMax = 32

/**
 * Writes files of spreadsheets, one after another, on a thread of its own: a page takes as long as
 * hundreds of other requests.
 */
export class SheetWriter {
  readonly #thread = new CallThread<Sheet, Uint8Array>(
    new URL('./sheet-worker.js', import.meta.url),
    'writes spreadsheets',
  )

  /** @throws service_unavailable if too many files wait; ask before rows are charged */
  requirePlace(): void {
    if (this.#thread.waiting < waitingMax) return
    throw unavailable('Too many files for spreadsheets are waiting.', 5)
  }

  /** The file. The sheet's lines can't be read afterwards. */
  async write(sheet: Sheet): Promise<Buffer> {
    const { buffer, byteOffset, byteLength } = await this.#thread.call(
      sheet,
      sheet.tables.map(({ lines }) => lines.buffer),
    )
    return Buffer.from(buffer, byteOffset, byteLength)
  }

  /** Ends the thread; waiting callers get an error. */
  async close(): Promise<void> {
    await this.#thread.close()
  }
}
