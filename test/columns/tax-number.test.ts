import t from 'tap'
import { isInn, isKpp } from '../../src/columns/tax-number.js'

await t.test('a KPP has digits, and digits or letters where the reason stands', (t) => {
  for (const right of ['770701001', '997650001', '7707AB001', '77070Z001', '0101A0000']) {
    t.ok(isKpp(right), right)
  }
  const wrong = [
    ...['', '000000000', '001234567', '77070100', '7707010011', '770701O01', 'A70701001'],
    ...['7707ab001', '7707ЖЖ001', '7707-1001', '７７０７０１００１', '770701001\n'],
  ]
  for (const each of wrong) t.notOk(isKpp(each), each)
  t.end()
})

await t.test('an INN has right check digits, and a region', (t) => {
  for (const right of ['7707083893', '7708004767', '500100732259']) t.ok(isInn(right), right)
  const wrong = [
    ...['', '0000000000', '000000000000', '7707083894', '77070838930', '500100732258'],
    ...['770708389з', '７７０７０８３８９３', '7707083893\n'],
  ]
  for (const each of wrong) t.notOk(isInn(each), each)
  t.end()
})
