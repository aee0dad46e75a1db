import { existsSync, rmSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatasetEntry } from '../../registry/registry-schema.js'
import { identityOrNull } from '../../versions/files/disk-state.js'
import { attachForms, withoutForm } from '../../versions/forms/attach-forms.js'
import type { Attached } from '../../versions/forms/attach-forms.js'
import { formsOf, isFormName, isNamesForm } from '../../versions/forms/form.js'
import type { Form, FormKind } from '../../versions/forms/form.js'
import { formRecordName, formsFolderName } from '../../versions/forms/form-record.js'
import { formsOrder } from '../../versions/forms/forms-order.js'
import type { FormsOrder } from '../../versions/forms/forms-order.js'
import type { CheckedFile } from '../../versions/store/file-checks.js'
import { removeAfterMs } from '../../versions/store/version-folders.js'
import { formFiles } from '../../versions/version.js'
import { packsBySelf } from '../dataset.js'
import type { Dataset } from '../dataset.js'
import type { LiveDatasetOptions } from './update.js'

/** By then, disk or memory may have been freed. */
const retryMs = 3_600_000

/** The state of the forms of one kind, for the owner. */
export interface FormState {
  readonly form: FormKind
  /** The shown name of a search file's column. */
  readonly column?: string
  /** `stale`: made of other files or columns, or not made yet. */
  readonly state: 'made' | 'making' | 'stale' | 'failed'
  /** Of what is being made, from 0 to 1. */
  readonly share?: number
  readonly reason?: string
}

/** The forms of the served version: which there are, and which are to be made. */
export class LiveForms {
  readonly #options: Pick<LiveDatasetOptions, 'checks' | 'forgetForm'>
  readonly folder: string
  /** Forms to remove → since when they are not served. */
  readonly #leaving = new Map<string, number>()
  #order: FormsOrder | null = null
  #failed: { readonly order: FormsOrder; readonly reason: string; readonly at: number } | null =
    null
  /** Damaged ones are made again also where the owner makes forms by command. */
  #isDamaged = false
  #served: Omit<Attached, 'made'> | null = null

  /** `parent` is the folder of the dataset's versions. */
  constructor(parent: string, options: Pick<LiveDatasetOptions, 'checks' | 'forgetForm'>) {
    this.#options = options
    this.folder = join(parent, formsFolderName)
  }

  /** Changes when another process makes or removes forms. */
  identity(): Promise<string | null> {
    return identityOrNull(join(this.folder, formRecordName))
  }

  /**
   * The dataset with the forms that there are; `isVerified` reads new ones whole. Those of an
   * earlier process are verified when they are read, so that a start need not wait for them.
   */
  async attach(dataset: Dataset, isVerified: boolean): Promise<Dataset> {
    if (!dataset.version || dataset.version.table) return dataset
    const { checks } = this.#options
    const served = this.#served ? formFiles(this.#served.version) : []
    const known = new Map(served.map(({ path, hash }) => [path, hash]))
    const isUsable = async (file: CheckedFile) => {
      if (!isVerified || known.get(file.path) === file.hash || checks.isVerified(file)) return true
      return (await checks.verify(file)) === 'intact'
    }
    const attached = await attachForms(dataset.version, this.folder, isUsable)
    this.#served = attached
    return { ...dataset, version: attached.version }
  }

  /** Takes the attached version as the served one: what it lacks is ordered if that is wanted. */
  order(entry: DatasetEntry): void {
    const { version, missing = [] } = this.#served ?? {}
    const isPacked = version && (packsBySelf(entry, version) || this.#isDamaged)
    const wanted = isPacked ? missing : missing.filter(({ kind }) => kind === 'names')
    if (!version || wanted.length === 0) {
      this.#isDamaged = false
      return this.drop()
    }
    const order = formsOrder(version, this.folder, wanted, null)
    // An order for the same forms stays, because it may be running.
    if (namesOf(this.#order) !== namesOf(order)) this.#order = order
  }

  /** The order that waits to be carried out; null without one. */
  get waiting(): FormsOrder | null {
    return this.failure === null ? this.#order : null
  }

  /** Why the order failed; null if it did not. */
  get failure(): string | null {
    const isSame = this.#failed && namesOf(this.#failed.order) === namesOf(this.#order)
    return isSame ? (this.#failed?.reason ?? null) : null
  }

  /** Makes nothing until the next version is served. */
  drop(): void {
    this.#order = null
  }

  fail(order: FormsOrder, reason: string, now: number): void {
    this.#failed = { order, reason, at: now }
  }

  /** Removes a damaged form, which is then made again, unless the owner removes all forms now. */
  lose({ path }: CheckedFile): void {
    this.#isDamaged ||= !isNamesForm(path) && existsSync(join(this.folder, formRecordName))
    const served = this.#served
    const isThis = (file: CheckedFile) => file.path === path
    if (served) this.#served = { ...served, version: withoutForm(served.version, isThis) }
    this.#options.forgetForm?.(path)
    rmSync(path, { force: true })
  }

  /**
   * Removes the forms of other versions, once no request can be reading them: another process may
   * have made them of files that are served in a moment. Allows an order again that failed
   * `retryMs` ago.
   */
  async sweep(now: number): Promise<void> {
    if (this.#failed && now - this.#failed.at >= retryMs) this.#failed = null
    const { version } = this.#served ?? {}
    if (!version) return
    const wanted = new Set(formsOf(version).map(({ name }) => name))
    for (const name of await readdir(this.folder).catch(() => [])) {
      const isLeaving = isFormName(name) && !wanted.has(name)
      const since = this.#leaving.get(name) ?? now
      if (isLeaving) this.#leaving.set(name, since)
      else this.#leaving.delete(name)
      if (!isLeaving || now - since < removeAfterMs) continue
      const path = join(this.folder, name)
      this.#options.forgetForm?.(path)
      await rm(path, { force: true })
      this.#leaving.delete(name)
    }
  }

  /** The state of each kind of form; `progress` is of the running order. */
  states(progress: { readonly rowsDone: number; readonly rows: number } | null): FormState[] {
    const { version, missing = [], isRecorded } = this.#served ?? {}
    if (!version) return []
    const lacking = new Set(missing.map(({ name }) => name))
    const all = formsOf(version)
    const isOfPacking = ({ kind }: Form) => kind !== 'names'
    const isPacked =
      isRecorded ||
      this.#order?.forms.some(isOfPacking) ||
      all.some((form) => isOfPacking(form) && !lacking.has(form.name))
    const forms = isPacked ? all : all.filter((form) => !isOfPacking(form))
    const share = progress && progress.rowsDone / Math.max(1, progress.rows)
    return [...Map.groupBy(forms, ({ kind, column }) => `${kind} ${column}`).values()].map(
      (own): FormState => {
        const { kind: form = 'rows', column = null } = own[0] ?? {}
        const shown = version.columns.find(({ source }) => source === column)?.name
        const named = shown === undefined ? { form } : { form, column: shown }
        if (!own.some(({ name }) => lacking.has(name))) return { ...named, state: 'made' }
        if (this.failure !== null) return { ...named, state: 'failed', reason: this.failure }
        return share === null ? { ...named, state: 'stale' } : { ...named, state: 'making', share }
      },
    )
  }
}

function namesOf(order: FormsOrder | null): string | undefined {
  return order?.forms.map(({ name }) => name).join('\n')
}
