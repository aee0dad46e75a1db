import t from 'tap'
import { sumInWords } from '../../../../src/sales/orders/papers/sum-in-words.js'
import { vatKopecks } from '../../../../src/sales/orders/papers/vat.js'

await t.test('a sum is in words, with the forms that its numbers take', (t) => {
  const sums: readonly (readonly [number, string, string])[] = [
    [0, 'Ноль рублей 00 копеек', 'Zero roubles 00 kopecks'],
    [1, 'Один рубль 00 копеек', 'One rouble 00 kopecks'],
    [2, 'Два рубля 00 копеек', 'Two roubles 00 kopecks'],
    [11, 'Одиннадцать рублей 00 копеек', 'Eleven roubles 00 kopecks'],
    [21, 'Двадцать один рубль 00 копеек', 'Twenty-one roubles 00 kopecks'],
    [100, 'Сто рублей 00 копеек', 'One hundred roubles 00 kopecks'],
    [990, 'Девятьсот девяносто рублей 00 копеек', 'Nine hundred ninety roubles 00 kopecks'],
    [1000, 'Одна тысяча рублей 00 копеек', 'One thousand roubles 00 kopecks'],
    [
      3900,
      'Три тысячи девятьсот рублей 00 копеек',
      'Three thousand nine hundred roubles 00 kopecks',
    ],
    [12_002, 'Двенадцать тысяч два рубля 00 копеек', 'Twelve thousand two roubles 00 kopecks'],
    [
      22_341,
      'Двадцать две тысячи триста сорок один рубль 00 копеек',
      'Twenty-two thousand three hundred forty-one roubles 00 kopecks',
    ],
    [
      1_001_014,
      'Один миллион одна тысяча четырнадцать рублей 00 копеек',
      'One million one thousand fourteen roubles 00 kopecks',
    ],
    [5_000_000_000, 'Пять миллиардов рублей 00 копеек', 'Five billion roubles 00 kopecks'],
  ]
  for (const [sum, russian, english] of sums) {
    t.equal(sumInWords('ru', sum), russian)
    t.equal(sumInWords('en', sum), english)
  }
  for (const wrong of [-1, 0.5, 1e15, NaN]) t.throws(() => sumInWords('ru', wrong), RangeError)
  t.end()
})

await t.test('two sums never have the same words', (t) => {
  const seen = new Set<string>()
  let amount = 0
  for (let sum = 0; sum < 30_000; sum += 7) {
    seen.add(sumInWords('ru', sum)).add(sumInWords('en', sum))
    amount += 2
  }
  t.equal(seen.size, amount)
  t.end()
})

await t.test('VAT is the share of the price, to the kopeck', (t) => {
  t.equal(vatKopecks(3900, 20), 65_000n)
  t.equal(vatKopecks(990, 20), 16_500n)
  t.equal(vatKopecks(100, 22), 1803n)
  t.equal(vatKopecks(1, 30), 23n)
  t.equal(vatKopecks(990, 0), 0n)
  t.equal(vatKopecks(Number.MAX_SAFE_INTEGER, 20), 150_119_987_579_016_517n)
  for (let percent = 0; percent <= 30; percent += 1) {
    for (const amount of [1, 99, 990, 3900, 123_457]) {
      const exact = (amount * 100 * percent) / (100 + percent)
      t.ok(Math.abs(Number(vatKopecks(amount, percent)) - exact) <= 0.5, `${amount}, ${percent} %`)
    }
  }
  t.end()
})
