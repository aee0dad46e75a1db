import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Comma, quote, UTF-8, from the first line; texts in quotes, cells as shown. */
const toCsv = 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,true,true,false'

/**
 * The cells of an XLSX file that LibreOffice shows, by line: texts in quotes, all other values
 * bare. It writes its files into this folder.
 */
export async function sheetLines(folder: string, xlsx: Buffer): Promise<readonly string[]> {
  writeFileSync(join(folder, 'page.xlsx'), xlsx)
  const profile = `-env:UserInstallation=file://${folder}/office`
  const args = [profile, '--headless', '--convert-to', toCsv, '--outdir', folder]
  await promisify(execFile)('soffice', [...args, join(folder, 'page.xlsx')], {
    env: { PATH: process.env['PATH'], HOME: folder, LC_ALL: 'C.UTF-8' },
  })
  return readFileSync(join(folder, 'page.csv'), 'utf8').trimEnd().split('\n')
}
