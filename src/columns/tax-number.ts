/**
 * The weights of the digits before a check digit of an INN.
 * Source: order of the Federal Tax Service of 29.06.2012 № ММВ-7-6/435@, annex 7.
 */
const weights = [3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8] as const
/** An INN of a company has one check digit, that of a person two. */
const [companyDigits, personDigits] = [10, 12] as const

/** Whether a text is an INN with right check digits: 10 digits of a company, 12 of a person. */
export function isInn(text: string): boolean {
  // There is no region 00: else an INN of zeros would be right.
  if (!/^(?!00)(?:\d{10}|\d{12})$/.test(text)) return false
  const checked = text.length === companyDigits ? [companyDigits] : [personDigits - 1, personDigits]
  return checked.every((end) => checkDigit(text.slice(0, end - 1)) === Number(text[end - 1]))
}

/**
 * Whether a text is a KPP: 4 digits of the tax office, 2 digits or capital letters of the reason, 3
 * digits. Source: as of the INN, point 5.
 */
export function isKpp(text: string): boolean {
  // There is no region 00, as in an INN.
  return /^(?!00)\d{4}[\dA-Z]{2}\d{3}$/.test(text)
}

/** Whether a text is an OGRN with a right check digit: 13 digits of a company, 15 of a person. */
function isOgrn(text: string): boolean {
  if (!/^(?:[1235]\d{12}|3\d{14})$/.test(text)) return false
  // Source: order of the Ministry of Finance of 30.10.2017 № 165н, points 8 and 9.
  const rest = BigInt(text.slice(0, -1)) % BigInt(text.length - 2)
  return Number(rest % 10n) === Number(text.at(-1))
}

/** What a column's `check` in the registry says of its values, and how tools judge them. */
export const keyChecks = { inn: isInn, ogrn: isOgrn } as const

export type KeyCheck = keyof typeof keyChecks

function checkDigit(digits: string): number {
  const used = weights.slice(-digits.length)
  const sum = used.reduce((total, weight, index) => total + weight * Number(digits[index]), 0)
  return (sum % 11) % 10
}
