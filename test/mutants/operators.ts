// Makes the mutations of a source file: small edits of its code, each of which a test should notice.

import { stripTypeScriptTypes } from 'node:module'

interface Range {
  readonly start: number
  readonly end: number
}

/** An edit of a file: the characters from `start` to `end` become `text`. */
export interface Mutation extends Range {
  readonly text: string
}

export function mutate(source: string, { start, end, text }: Mutation): string {
  return source.slice(0, start) + text + source.slice(end)
}

/** Returns the mutations of a TypeScript file that leave its syntax valid, in order. */
export function mutationsOf(source: string): readonly Mutation[] {
  const code = blank(strip(source))
  const decisions = [...conditionsOf(code), ...returnsOf(source, code)]
  // A decision without a connective becomes true and false, which covers what else could change in it.
  const simple = decisions.filter(({ start, end }) => !/&&|\|\||\?/.test(code.slice(start, end)))
  const isCovered = (at: number) => simple.some(({ start, end }) => start <= at && at < end)
  const all = [
    ...decisions.flatMap(range => ['true', 'false'].map(text => ({ ...range, text }))),
    ...operatorsOf(code).filter(({ start, text }) => !isCovered(start) || /^[<>]/.test(text)),
    ...statementsOf(source, code),
  ].filter(({ start, end, text }) => source.slice(start, end) !== text)
  const distinct = new Map(all.map(mutation => [Object.values(mutation).join(' '), mutation]))
  return [...distinct.values()]
    .filter(mutation => isValid(mutate(source, mutation)))
    .sort((a, b) => a.start - b.start)
}

const replacements: Readonly<Record<string, string>> = {
  ...{ '===': '!==', '!==': '===', '<': '<=', '<=': '<', '>': '>=', '>=': '>' },
  ...{ '&&': '||', '||': '&&', '??': '&&', true: 'false', false: 'true', '!': ' ', '?': '&& false ?' },
}

/** Swaps operators and booleans, drops negations, and takes the second branch of conditional expressions. */
function operatorsOf(code: string): readonly Mutation[] {
  const operator = /(?<=\s)(?:[=!]==|[<>]=?|&&|\|\||\?\??)(?=\s)|\b(?:true|false)\b|!(?=[\w#(])/g
  return Array.from(code.matchAll(operator), ({ 0: match, index: start }) => ({
    ...{ start, end: start + match.length, text: replacements[match]! },
  }))
}

/** Finds the conditions of `if`. */
function conditionsOf(code: string): readonly Range[] {
  return Array.from(code.matchAll(/\bif \(/g), ({ 0: match, index }) => {
    const start = index + match.length
    return { start, end: closing(code, start - 1) }
  })
}

/** Finds what functions of the type boolean return. */
function returnsOf(source: string, code: string): readonly Range[] {
  const head = /\): (?:boolean|\w+ is [^{\n]+|(?:MaybeAtOnce|Promise)<boolean>) \{/g
  return [...source.matchAll(head)].flatMap(({ 0: match, index }) => {
    const open = index + match.length - 1
    const body = code.slice(open, closing(code, open))
    const value = /(?<=\breturn )[^\n]+(?:\n\s+(?:&&|\|\||\?|:).*)*/g
    return Array.from(body.matchAll(value), ({ 0: { length }, index: at }) => ({
      ...{ start: open + at, end: open + at + length },
    }))
  })
}

/** Drops calls and assignments that have a line of their own. */
function statementsOf(source: string, code: string): readonly Mutation[] {
  const lines = code.split('\n')
  const statement =
    /^\s+(?!(?:if|for|while|switch|return|super)\b)(?:(?:await|void) )?[\w$#.?]+(?:\(.*\)|(?: [+|&-]?=| \?\?=) .*[^\s(,{[=>]|\+\+|--)$/
  let next = 0
  return lines.flatMap((line, i) => {
    const start = next + line.search(/\S|$/)
    const end = next + line.length
    next = end + 1
    const isField =
      /^ {2}\S/.test(line) && /\bclass\b/.test(lines.slice(0, i).findLast(one => /^\S/.test(one)) ?? '')
    const before = lines.slice(0, i).findLast(one => one.trim() !== '') ?? ''
    const isWhole =
      depthOf(line) === 0 &&
      !/^\s*[.?:&|)\]]/.test(lines[i + 1] ?? '') &&
      !/(?:[(,=>?:&|[]|^\s*(?:else|return))$/.test(before) &&
      source.slice(end - line.length, start).trim() === ''
    return statement.test(line) && isWhole && !isField ? [{ start, end, text: ';' }] : []
  })
}

/** Returns where the bracket at `open` is closed. */
function closing(code: string, open: number): number {
  let depth = 0
  for (let at = open; at < code.length; at++) {
    if ('([{'.includes(code[at]!)) depth++
    else if (')]}'.includes(code[at]!) && --depth === 0) return at
  }
  return code.length
}

function depthOf(line: string): number {
  return line.replaceAll(/[^([{]/g, '').length - line.replaceAll(/[^)\]}]/g, '').length
}

/** Replaces types with blanks, which keeps every position. */
function strip(source: string): string {
  return stripTypeScriptTypes(source, { mode: 'strip' })
}

/** Blanks the text in comments, strings and regular expressions, which keeps every position. */
function blank(code: string): string {
  const literal =
    /\/\/.*|\/\*[\s\S]*?\*\/|(['"`])(?:(?!\1)[^\\]|\\[\s\S])*\1|(?<=[(,=:!&|?[{]\s*|return )\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\]|\\.)*\])+\/\w*/g
  return code.replaceAll(literal, text =>
    text.startsWith('/')
      ? text.replaceAll(/\S/g, ' ')
      : text[0]! + text.slice(2).replaceAll(/[^\n]/g, '_') + text[0]!,
  )
}

function isValid(source: string): boolean {
  try {
    strip(source)
    return true
  } catch {
    return false
  }
}
