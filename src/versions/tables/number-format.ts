const dayMs = 86_400_000
/** 9999-12-31. */
const lastDay = 2_958_465
/** From the first day of 1900 to that of 1904, as workbooks count them. */
const days1904 = 1462
/** Of a double. */
const digitsMax = 17

/** A code for a format that has a number only. */
export function builtinFormat(id: number): string {
  if (id === 22) return 'd h'
  if (id === 46) return '[h]'
  if ((id >= 18 && id <= 21) || id === 45 || id === 47) return 'h'
  return (id >= 14 && id <= 17) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58) ? 'd' : ''
}

/**
 * Reads the code of a format, of days, times, numbers with zeros at their start or others: how its
 * numbers are written as texts, and whether they are codes, whose zeros count. `serialOf` is what a
 * workbook of 1900 has for the number of a day or time.
 */
export function readFormat(code: string, is1904: boolean) {
  const [positive = ''] = /^(?:"[^"]*"|\\.|[^;"\\])*/.exec(code) ?? []
  const bare = positive.replace(/[_*].|\[(?![hms]+\])[^\]]*\]/gi, '')
  const letters = bare.replace(/"[^"]*"|\\./g, '')
  const isDuration = /\[[hms]/i.test(letters)
  if (isDuration || /[ydhms]/i.test(letters)) {
    const isClock = !/[yd]/i.test(letters) && /[hs]/i.test(letters)
    const kind = isDuration ? 'duration' : isClock ? 'clock' : 'day'
    const shift = is1904 && kind === 'day' ? days1904 : 0
    return {
      isText: false,
      textOf: (number: string) => timeText(number, kind, is1904),
      serialOf: (number: string) => (shift === 0 ? number : String(Number(number) + shift)),
    }
  }
  const mask = bare.replace(/\\\./g, '·').replace(/\\(.)|"([^"]*)"/g, '$1$2')
  const isMask = /^00+\.0+$|^[ ()\-/+·1-9]*0[ ()\-/·]*0[ ()\-/·0]*$/.test(mask)
  return { isText: isMask, textOf: isMask ? (number: string) => masked(number, mask) : plainText }
}

/** The number that Excel shows; a whole one, or of more digits than a double has, as it is. */
function plainText(number: string): string {
  if (/^-?[1-9]\d*$/.test(number)) return number
  const digits = number.replace(/e.*$/i, '').replace(/\D/g, '').replace(/^0+/, '')
  return digits.length > digitsMax ? number : String(Number(number))
}

/** A number in place of the zeros of a format; one with more digits after the point as it is. */
function masked(number: string, mask: string): string {
  const [whole = '', fraction = ''] = plainText(number).split('.')
  const [front = '', places = ''] = mask.split('.')
  if (!/^\d+$/.test(whole) || fraction.length > places.length) return plainText(number)
  const count = front.replace(/[^0]/g, '').length
  const digits = whole.padStart(count, '0')
  const more = digits.length - count
  let at = more
  const text = digits.slice(0, more) + front.replace(/0/g, () => digits[at++] ?? '')
  return text.replaceAll('·', '.') + (places && `.${fraction.padEnd(places.length, '0')}`)
}

/**
 * Excel keeps a time as a fraction of a day, which misses the second by less than a millisecond.
 * Its calendar has a 29 February 1900, which is day 60, and shows day 0 as 1900-01-00.
 */
function timeText(number: string, kind: 'duration' | 'clock' | 'day', is1904: boolean): string {
  const serial = Number(number)
  if (!(serial >= 0 && serial <= lastDay + 1)) return plainText(number)
  const rough = Math.round(serial * dayMs)
  const second = Math.round(rough / 1000) * 1000
  const ms = Math.abs(rough - second) <= 1 ? second : rough
  const day = Math.floor(ms / dayMs)
  const clock = new Date(ms % dayMs).toISOString().slice(11, 23).replace('.000', '')
  if (kind === 'duration') return `${Math.floor(ms / 3_600_000)}`.padStart(2, '0') + clock.slice(2)
  const isMidnight = clock === '00:00:00'
  if (day === 0 && (kind === 'clock' || !(is1904 || isMidnight))) return clock
  return isMidnight ? dayText(day, is1904) : `${dayText(day, is1904)} ${clock}`
}

function dayText(day: number, is1904: boolean): string {
  if (!is1904 && day === 0) return '1900-01-00'
  if (!is1904 && day === 60) return '1900-02-29'
  const first = is1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, day > 60 ? 30 : 31)
  return new Date(first + day * dayMs).toISOString().slice(0, 10)
}
