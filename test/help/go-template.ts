// The part of Go's text/template and of Helm's functions that the chart uses: whatever else a template has is an error, so that nothing is rendered by guess.

import { stringify } from 'yaml'

/** What `.` may be, and what functions take. */
type Value = unknown

interface Scope {
  readonly dot: Value
  readonly root: Value
}

type Render = (scope: Scope) => string
type Evaluate = (scope: Scope) => Value

/** Returns a function that renders a file of templates by its name, with what the others define. Throws an Error on what is not supported. */
export function readTemplates(
  files: ReadonlyMap<string, string>,
): (name: string, dot: Record<string, Value>) => string {
  const defined = new Map<string, Render>()
  const bodies = new Map<string, Render>()
  for (const [name, text] of files) bodies.set(name, new Parser(name, text, defined).file())
  return (name, dot) => bodies.get(name)!({ dot, root: dot })
}

const word = /^(?:"(?:[^"\\]|\\.)*"|\$?\.?[\w.]+|\$|\.|\||\(|\))/

class Parser {
  readonly #name: string
  readonly #defined: Map<string, Render>
  /** Texts at even places, actions at odd ones. */
  readonly #parts: readonly string[]
  #at = 0

  constructor(name: string, text: string, defined: Map<string, Render>) {
    this.#name = name
    this.#defined = defined
    this.#parts = text
      .replaceAll(/\s*\{\{- /g, '{{ ')
      .replaceAll(/ -\}\}\s*/g, ' }}')
      .replaceAll(/\{\{ \/\*.*?\*\/(?: -)?\}\}/gs, '')
      .split(/\{\{ (.*?) ?\}\}/s)
  }

  file(): Render {
    const body = this.#block()
    if (this.#at < this.#parts.length) this.#fail(`{{ ${this.#parts[this.#at]} }} without a beginning`)
    return body
  }

  /** Reads up to an `end` or `else` of its own, or the end of the file. */
  #block(): Render {
    const renders: Render[] = []
    for (;;) {
      const text = this.#parts[this.#at++]!
      renders.push(() => text)
      const action = this.#parts[this.#at]
      if (action === undefined || action === 'end' || action === 'else') break
      this.#at++
      renders.push(this.#action(action))
    }
    return scope => renders.map(render => render(scope)).join('')
  }

  #action(action: string): Render {
    const [, keyword, rest] = /^(if|with|range|define) (.*)$/.exec(action) ?? []
    if (keyword === undefined) {
      const evaluate = this.#expression(action)
      return scope => textOf(evaluate(scope), () => this.#fail(`{{ ${action} }} is nothing`))
    }
    const body = this.#block()
    const otherwise = this.#parts[this.#at] === 'else' && this.#at++ > 0 ? this.#block() : () => ''
    if (this.#parts[this.#at++] !== 'end') this.#fail(`{{ ${action} }} without an end`)
    if (keyword === 'define') {
      this.#defined.set(JSON.parse(rest!), body)
      return () => ''
    }
    const subject = this.#expression(rest!)
    return scope => {
      const value = subject(scope)
      if (isEmpty(value)) return otherwise(scope)
      if (keyword === 'if') return body(scope)
      const each = keyword === 'range' ? (value as Value[]) : [value]
      return each.map(dot => body({ ...scope, dot })).join('')
    }
  }

  #expression(text: string): Evaluate {
    const words: string[] = []
    for (let rest = text.trim(); rest !== ''; ) {
      const [next] = word.exec(rest) ?? this.#fail(`{{ ${text} }} has more than this reads: ${rest}`)
      words.push(next)
      rest = rest.slice(next.length).trimStart()
    }
    const evaluate = this.#pipeline(words)
    if (words.length > 0) this.#fail(`{{ ${text} }} goes on with ${words[0]}`)
    return evaluate
  }

  #pipeline(words: string[]): Evaluate {
    let evaluate = this.#command(words, [])
    while (words[0] === '|') {
      words.shift()
      evaluate = this.#command(words, [evaluate])
    }
    return evaluate
  }

  /** Reads a function and its arguments, or a value; what came through the pipe is the last argument. */
  #command(words: string[], piped: readonly Evaluate[]): Evaluate {
    const first = words[0] ?? this.#fail('an action ends too early')
    if (!/^[a-zA-Z]/.test(first) || first === 'true' || first === 'false') return this.#term(words)
    words.shift()
    const given: Evaluate[] = []
    while (words.length > 0 && words[0] !== '|' && words[0] !== ')') given.push(this.#term(words))
    const terms = [...given, ...piped]
    if (first === 'include') {
      const [name, dot] = terms as [Evaluate, Evaluate]
      return scope => {
        const inner = dot(scope)
        const called = name(scope) as string
        const render = this.#defined.get(called) ?? this.#fail(`nothing defines ${called}`)
        return render({ dot: inner, root: inner })
      }
    }
    const call = functions[first] ?? this.#fail(`the function ${first} is not known here`)
    return scope => call(...terms.map(term => term(scope)))
  }

  #term(words: string[]): Evaluate {
    const next = words.shift() ?? this.#fail('an action ends too early')
    if (next === '(') {
      const inner = this.#pipeline(words)
      if (words.shift() !== ')') this.#fail('a parenthesis is open')
      return inner
    }
    if (/^(?:"|\d+$|true$|false$)/.test(next)) {
      const value: Value = JSON.parse(next)
      return () => value
    }
    const [, base, path] = /^(\$?)\.?([\w.]*)$/.exec(next) ?? this.#fail(`${next} is not a value`)
    const names = path === '' ? [] : path!.split('.')
    return ({ dot, root }) =>
      names.reduce<Value>(
        (value, name) => {
          if (typeof value !== 'object' || value === null || !(name in value))
            this.#fail(`${next}: there is no ${name}`)
          return (value as Record<string, Value>)[name]
        },
        base === '$' ? root : dot,
      )
  }

  #fail(problem: string): never {
    throw new Error(`${this.#name}: ${problem}`)
  }
}

const indented = (spaces: Value, text: Value) =>
  (text as string).replaceAll(/^/gm, ' '.repeat(spaces as number))

const functions: Readonly<Record<string, (...values: readonly Value[]) => Value>> = {
  add: (a, b) => (a as number) + (b as number),
  default: (otherwise, value) => (isEmpty(value) ? otherwise : value),
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  nindent: (spaces, text) => `\n${indented(spaces, text)}`,
  not: value => isEmpty(value),
  printf: (format, ...values) => {
    const left = [...values]
    return (format as string).replaceAll('%s', () => String(left.shift()))
  },
  quote: value => JSON.stringify(String(value)),
  toYaml: value =>
    stringify(value, { lineWidth: 0, sortMapEntries: true, indentSeq: false, version: '1.1' }).trimEnd(),
  trimSuffix: (suffix, text) =>
    (text as string).endsWith(suffix as string)
      ? (text as string).slice(0, -(suffix as string).length)
      : text,
  trunc: (length, text) => (text as string).slice(0, length as number),
}

function isEmpty(value: Value): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === undefined || value === null || value === false || value === 0 || value === ''
}

function textOf(value: Value, none: () => never): string {
  if (value === undefined || value === null) none()
  return String(value)
}
