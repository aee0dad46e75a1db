/**
 * The weights of the digits before a check digit of an INN.
 * Source: order of the Federal Tax Service of 29.06.2012 № ММВ-7-6/435@, annex 7.
 */
const weights = [3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8] as const
/** An INN of a company has one check digit, that of a person two. */
const [companyDigits, personDigits] = [10, 12] as const

/** Whether a text is an INN with right check digits: 10 digits of a company, 12 of a person. */
export function isInn(text: string): boolean {
  if (!/^(?:\d{10}|\d{12})$/.test(text)) return false
  const checked = text.length === companyDigits ? [companyDigits] : [personDigits - 1, personDigits]
  return checked.every((end) => checkDigit(text.slice(0, end - 1)) === Number(text[end - 1]))
}

function checkDigit(digits: string): number {
  const used = weights.slice(-digits.length)
  const sum = used.reduce((total, weight, index) => total + weight * Number(digits[index]), 0)
  return (sum % 11) % 10
}
