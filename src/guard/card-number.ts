// Numbers of payment cards (ISO/IEC 7812): by their first digits, length, grouping and check digit.

import { behindNoWord, isDigit, isWord, noMatch, type Pattern, undecided } from './pattern.ts'

export const cardNumber: Pattern = {
  name: 'card_number',
  title: 'Numbers of payment cards, with a right check digit',
  beginning: `${behindNoWord('[2-6]')}\\d{3}(?<=[46]\\d{3}|5[1-5]\\d\\d|2[2-7]\\d\\d|3[04-9]\\d\\d)(?:\\d|[ -]\\d{4})`,
  first: '23456',
  endOf: endOfCard,
}

/** As cards show them: 4-4-4-4, with three more digits, and those of American Express and Diners Club. */
const groupings = [
  [4, 4, 4, 4, 3],
  [4, 4, 4, 4],
  [4, 6, 5],
  [4, 6, 4],
] as const

const maxDigits = 19

function endOfCard(text: string, at: number, isFinal: boolean): number {
  if (!mayBegin(text, at)) return noMatch
  let end = at
  while (end < text.length && end - at <= maxDigits && isDigit(text.charCodeAt(end))) end++
  const first = end - at
  if (first > maxDigits) return noMatch
  const isOpen = end === text.length && !isFinal
  if (isOpen) return mayBeCard(text, at, end) ? undecided : noMatch
  if (first !== 4) return isCard(text.slice(at, end)) ? bounded(text, end, isFinal) : noMatch
  let isUndecided = false
  for (const grouping of groupings) {
    const result = endOfGroups(grouping, text, at, isFinal)
    if (result === undecided) isUndecided = true
    else if (result !== noMatch && !isUndecided) return result
  }
  return isUndecided ? undecided : noMatch
}

function endOfGroups(grouping: readonly number[], text: string, at: number, isFinal: boolean): number {
  const separator = text.charCodeAt(at + 4)
  if (separator !== space && separator !== hyphen) return noMatch
  let digits = ''
  let position = at
  for (const [i, length] of grouping.entries()) {
    if (i > 0) {
      if (position === text.length) return isFinal ? noMatch : undecided
      if (text.charCodeAt(position++) !== separator) return noMatch
    }
    for (const end = position + length; position < end; position++) {
      if (position === text.length) return isFinal ? noMatch : undecided
      if (!isDigit(text.charCodeAt(position))) return noMatch
    }
    digits += text.slice(position - length, position)
  }
  return isCard(digits) ? bounded(text, position, isFinal) : noMatch
}

/** Not within a word or the digits behind a decimal point. */
function mayBegin(text: string, at: number): boolean {
  if (at === 0) return true
  const before = text.charCodeAt(at - 1)
  if (isWord(before)) return false
  return before !== point || !isDigit(text.charCodeAt(at - 2))
}

function bounded(text: string, end: number, isFinal: boolean): number {
  if (end === text.length) return isFinal ? end : undecided
  const next = text.charCodeAt(end)
  if (isWord(next)) return noMatch
  if (next !== point) return end
  if (end + 1 === text.length) return isFinal ? end : undecided
  return isDigit(text.charCodeAt(end + 1)) ? noMatch : end
}

/** Whether digits that may go on can be the beginning of a card's number. */
function mayBeCard(text: string, at: number, end: number): boolean {
  const digits = text.slice(at, end)
  return brands.some(({ from, to }) => {
    const length = Math.min(from.length, digits.length)
    const piece = digits.slice(0, length)
    return piece >= from.slice(0, length) && piece <= to.slice(0, length)
  })
}

function isCard(digits: string): boolean {
  const isOfBrand = brands.some(({ from, to, lengths }) => {
    const piece = digits.slice(0, from.length)
    return piece >= from && piece <= to && lengths.includes(digits.length)
  })
  return isOfBrand && hasCheckDigit(digits)
}

/** By Luhn. */
function hasCheckDigit(digits: string): boolean {
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 0x30
    const doubled = i % 2 === 0 ? digit : 2 * digit
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

/** The first digits of issuers, and the lengths of their numbers. */
const brands = [
  { from: '4', to: '4', lengths: [13, 16, 19] },
  { from: '51', to: '55', lengths: [16] },
  { from: '2221', to: '2720', lengths: [16] },
  { from: '34', to: '34', lengths: [15] },
  { from: '37', to: '37', lengths: [15] },
  { from: '300', to: '305', lengths: [14] },
  { from: '36', to: '36', lengths: [14] },
  { from: '38', to: '39', lengths: [14] },
  { from: '3528', to: '3589', lengths: [16] },
  { from: '6011', to: '6011', lengths: [16, 19] },
  { from: '62', to: '62', lengths: [16, 17, 18, 19] },
  { from: '644', to: '659', lengths: [16, 19] },
] as const satisfies readonly { from: string; to: string; lengths: readonly number[] }[] as readonly {
  readonly from: string
  readonly to: string
  readonly lengths: readonly number[]
}[]

const space = 0x20
const hyphen = 0x2d
const point = 0x2e
