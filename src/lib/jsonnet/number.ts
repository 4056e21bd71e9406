// Numbers as text: whole ones in full, others with the 17 digits that tell every double from its neighbours.

export function numberText(value: number): string {
  if (Number.isInteger(value)) return wholeText(value)
  const { digits, power } = seventeenDigits(Math.abs(value))
  const sign = value < 0 ? '-' : ''
  if (power < -4 || power >= 17) {
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : ''
    return `${sign}${digits[0]}${fraction}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
  }
  if (power < 0) return `${sign}0.${'0'.repeat(-power - 1)}${digits}`
  return `${sign}${digits.slice(0, power + 1)}.${digits.slice(power + 1)}`
}

export function wholeText(value: number): string {
  return Object.is(value, -0) ? '-0' : BigInt(value).toString()
}

/** Without zeros at the end. A tie goes to the even digit, as in C; JavaScript rounds it up. */
function seventeenDigits(value: number): { digits: string; power: number } {
  const exact = apart(value.toExponential(60))
  const isTie = /^50*$/.test(exact.digits.slice(17)) && Number(exact.digits[16]) % 2 === 0
  const { digits, power } = isTie ? { ...exact, digits: exact.digits.slice(0, 17) } : apart(value.toExponential(16))
  return { digits: digits.replace(/0+$/, ''), power }
}

function apart(text: string): { digits: string; power: number } {
  const [digits = '', exponent] = text.split('e')
  return { digits: digits.replace('.', ''), power: Number(exponent) }
}
