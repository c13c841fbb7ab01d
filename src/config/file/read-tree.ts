// YAML to a tree of settings with their positions.

import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseAllDocuments,
  type Scalar,
  type YAMLError,
  type YAMLMap,
} from 'yaml'
import { type Findings, type Place, quote, stepInto } from './mistake.ts'
import type { Entry, Mapping, Tree } from './tree.ts'

/** Reads the one document of a text; syntax errors are reported alone, since their consequences are noise. */
export function readTree(text: string, findings: Findings): Tree | undefined {
  if (text.length > maxText) return findings.mistake(start, 'the file is larger than 1 MiB')
  const lines = new LineCounter()
  const documents = [...parseAllDocuments<Node>(text, { ...parserOptions, lineCounter: lines })]
  const [first, second] = documents
  if (!first?.contents) return findings.mistake(start, 'the file has no settings')
  const errors = documents.flatMap(document => document.errors)
  if (errors.length > 0) {
    const place = placeOf(first.contents, lines)
    // Everything in the first column is then unexpected, which says nothing about the cause.
    const isOfNothing = isSeq(first.contents) || place.column > 1
    if (isOfNothing && errors[0]!.code === 'UNEXPECTED_TOKEN')
      return findings.mistake(place, `invalid YAML: ${lacksParent}`)
    return noteSyntax(errors, lines, findings)
  }
  if (second) return findings.mistake(placeOf(second.contents, lines), 'a second document begins here')
  const reader = new TreeReader(text, lines, findings)
  const tree = reader.read(first.contents)
  if (reader.hasGivenUp) return undefined
  return tree.kind === 'empty' ? findings.mistake(start, 'the file has no settings') : tree
}

const start: Place = { line: 1, column: 1, path: '' }
const maxText = 2 ** 20
const deepest = 32
const maxValues = 100_000

// Our own words, since those of the parser may quote the file, and with it a secret.
const anySyntaxMistake = 'check indentation, brackets and quotes'
const lacksParent = 'no setting above it has this line: its own may be missing, or be a comment still'
const syntaxMistakes: Partial<Record<YAMLError['code'], string>> = {
  TAB_AS_INDENT: 'tabs cannot be used for indentation; use spaces',
  BAD_INDENT: 'the indentation does not match the lines above, or a bracket is not closed',
  BAD_ALIAS: 'a value that begins with * must be in quotes',
  BAD_SCALAR_START: 'a value that begins with @, % or ` must be quoted',
  BAD_DQ_ESCAPE: 'unknown escape in double quotes; use single quotes for a plain backslash',
  BLOCK_AS_IMPLICIT_KEY: 'unexpected second colon, or the lines below are indented too far',
  MISSING_CHAR: 'missing colon, comma or closing quote, or a value with { or } that must be quoted',
  RESOURCE_EXHAUSTION: `values are nested more than ${deepest} deep`,
}

/** Plain scalars that mean null (YAML 1.2.2 section 10.3.2). */
const empty = ['', '~', 'null', 'Null', 'NULL']

const parserOptions = {
  schema: 'failsafe',
  uniqueKeys: false,
  // Otherwise values and keys are parsed as bytes, dates and pairs.
  resolveKnownTags: false,
  prettyErrors: false,
  logLevel: 'silent',
} as const

function noteSyntax(errors: readonly YAMLError[], lines: LineCounter, findings: Findings): undefined {
  let lastLine = 0
  for (const { code, pos } of errors) {
    const place = placeAt(pos[0], lines)
    if (place.line === lastLine) continue
    lastLine = place.line
    findings.mistake(place, `invalid YAML: ${syntaxMistakes[code] ?? anySyntaxMistake}`)
    // Whatever follows is unexpected for the same reason.
    if (code === 'UNEXPECTED_TOKEN') return
  }
}

/** Turns the nodes of one document into a tree, following aliases up to a bound. */
class TreeReader {
  hasGivenUp = false
  readonly #text: string
  readonly #lines: LineCounter
  readonly #findings: Findings
  readonly #anchored = new Map<string, { readonly tree: Tree; readonly size: number }>()
  #values = 0

  constructor(text: string, lines: LineCounter, findings: Findings) {
    this.#text = text
    this.#lines = lines
    this.#findings = findings
  }

  read(node: Node, path = '', depth = 0): Tree {
    const place = placeOf(node, this.#lines, path)
    const before = this.#values++
    if (depth > deepest) return this.#giveUp(place, `values are nested more than ${deepest} deep`)
    if (isAlias(node)) return this.#follow(node, place)
    if (node.tag !== undefined) this.#findings.mistake(place, 'tags (!…) are not supported')
    const tree = this.#convert(node, place, depth)
    const { anchor } = node as Scalar
    if (anchor) this.#anchored.set(anchor, { tree, size: this.#values - before })
    return this.#values > maxValues
      ? this.#giveUp(place, `the file has more than ${maxValues} values, counting those behind aliases`)
      : tree
  }

  #convert(node: Node, place: Place, depth: number): Tree {
    if (isMap(node)) return { ...place, kind: 'mapping', entries: this.#readEntries(node, place.path, depth) }
    if (isSeq<Node>(node)) {
      const items = node.items.map((item, i) => this.read(item, stepInto(place.path, i), depth + 1))
      return { ...place, kind: 'sequence', items }
    }
    const { value, type } = node as Scalar<string>
    const isEmpty = type === 'PLAIN' && empty.includes(value)
    if (isEmpty) return { ...place, kind: 'empty' }
    return { ...place, kind: 'scalar', text: value, inset: this.#insetOf(node as Scalar<string>) }
  }

  #insetOf({ range, type, value }: Scalar<string>): number | null {
    const inset = type === 'PLAIN' ? 0 : 1
    const isAsWritten = range && this.#text.startsWith(value, range[0] + inset) && !value.includes('\n')
    return isAsWritten && (type === 'PLAIN' || type?.startsWith('QUOTE')) ? inset : null
  }

  #readEntries(map: YAMLMap, path: string, depth: number): Map<string, Entry> {
    const entries = new Map<string, Entry>()
    const merged: Mapping[] = []
    let isMerged = false
    for (const { key, value } of map.items as Pair<Node, Node | null>[]) {
      if (!isScalar<string>(key)) {
        this.#findings.mistake(placeOf(key, this.#lines, path), 'a key must be a plain string')
        continue
      }
      const place = placeOf(key, this.#lines, stepInto(path, key.value))
      const first = entries.get(key.value)
      const isMerge = key.value === '<<' && key.type === 'PLAIN'
      const tree: Tree = value
        ? this.read(value, isMerge ? path : place.path, depth + 1)
        : { ...place, kind: 'empty' }
      if (isMerge && !isMerged) {
        merged.push(...this.#mergedBy(tree, placeOf(key, this.#lines, path)))
        isMerged = true
      } else if (isMerge)
        this.#findings.mistake(place, 'duplicate setting "<<": one merge key takes a list of mappings')
      else if (!first) entries.set(key.value, { key: place, value: tree })
      else
        this.#findings.mistake(
          place,
          `duplicate setting ${quote(key.value)}, first set on line ${first.key.line}`,
        )
    }
    // A mapping's own keys come first, then those of the mappings merged into it, in their order.
    for (const { entries: others } of merged)
      for (const [key, entry] of others) if (!entries.has(key)) entries.set(key, entry)
    return entries
  }

  /** Returns the mappings that a merge key adds (https://yaml.org/type/merge.html). */
  #mergedBy(tree: Tree, place: Place): readonly Mapping[] {
    const parts = tree.kind === 'sequence' ? tree.items : [tree]
    const mappings = parts.filter(part => part.kind === 'mapping')
    if (parts.length === 0 || mappings.length < parts.length)
      this.#findings.mistake(
        place,
        'a merge key (<<) must have a mapping or a list of mappings, such as *base',
      )
    return mappings
  }

  #follow({ source }: Alias, place: Place): Tree {
    const anchored = this.#anchored.get(source)
    if (!anchored)
      return this.#giveUp(
        place,
        `the alias *${source} has no anchor &${source} before it; a text that begins with * must be in quotes`,
      )
    this.#values += anchored.size
    return anchored.tree
  }

  #giveUp(place: Place, reason: string): Tree {
    if (!this.hasGivenUp) this.#findings.mistake(place, reason)
    this.hasGivenUp = true
    return { ...place, kind: 'empty' }
  }
}

function placeOf(node: Node | null, lines: LineCounter, path = ''): Place {
  return placeAt(node?.range?.[0] ?? 0, lines, path)
}

function placeAt(offset: number, lines: LineCounter, path = ''): Place {
  const { line, col } = lines.linePos(offset)
  return { line, column: col, path }
}
