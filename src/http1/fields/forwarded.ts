// The Forwarded field (RFC 7239): what each hop says about the one before it.

import { backslash, dquote, htab, isTokenByte, sp } from './characters.ts'

interface ForwardedElement {
  node: string | null
  host: string | null
  proto: string | null
}

const maxElements = 100
const maxLength = 16 * 1024

/**
 * Reads the joined values of Forwarded, the first hop first; null if they violate RFC 7239 section 4 or a
 * limit. Blanks around semicolons and unquoted addresses with a colon are accepted: many proxies write them.
 */
export function parseForwarded(list: string): ForwardedElement[] | null {
  if (list.length > maxLength) return null
  const elements: ForwardedElement[] = []
  let element: ForwardedElement | null = null
  for (let at = 0; ; at++) {
    at = afterBlanks(list, at)
    const nameEnd = afterToken(list, at)
    if (nameEnd > at) {
      const end = list[nameEnd] === '=' ? afterValue(list, nameEnd + 1) : -1
      if (end === -1) return null
      element ??= { node: null, host: null, proto: null }
      if (!take(element, list.slice(at, nameEnd).toLowerCase(), list.slice(nameEnd + 1, end))) return null
      at = afterBlanks(list, end)
    }
    if (at < list.length && list[at] !== ',' && list[at] !== ';') return null
    if (at < list.length && list[at] === ';') continue
    if (element !== null && elements.push(element) > maxElements) return null
    if (at >= list.length) return elements
    element = null
  }
}

function take(element: ForwardedElement, name: string, written: string): boolean {
  const member = name === 'for' ? 'node' : name === 'host' || name === 'proto' ? name : null
  if (member === null) return true
  if (element[member] !== null) return false
  element[member] = written.startsWith('"') ? written.slice(1, -1).replace(/\\(.)/g, '$1') : written
  return true
}

function afterBlanks(list: string, from: number): number {
  let at = from
  while (list.charCodeAt(at) === sp || list.charCodeAt(at) === htab) at++
  return at
}

function afterToken(list: string, from: number): number {
  let at = from
  while (isTokenByte[list.charCodeAt(at)] === 1) at++
  return at
}

function afterValue(list: string, from: number): number {
  if (list.charCodeAt(from) === dquote) return afterQuoted(list, from + 1)
  let at = from
  while (isTokenByte[list.charCodeAt(at)] === 1 || isOfAddress(list.charCodeAt(at))) at++
  return at === from ? -1 : at
}

function afterQuoted(list: string, from: number): number {
  for (let at = from; at < list.length; at++) {
    const code = list.charCodeAt(at)
    if (code === dquote) return at + 1
    if (code === backslash) at++
  }
  return -1
}

function isOfAddress(code: number): boolean {
  return code === 0x3a || code === 0x5b || code === 0x5d
}
