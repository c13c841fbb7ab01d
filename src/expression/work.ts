// How much work an expression can be, told before it ever runs: an evaluation cannot be interrupted.

import type { ASTNode } from '@marcbachmann/cel-js'
import { failingOperators, functions } from './functions.ts'
import type { HeadSizes, Reads } from './guard.ts'
import { longestName, mostNames, usualName } from './tls-facts.ts'
import { larger, listOf, memberOf, nameOf, type Size, scalar, textOf, weigh } from './size.ts'

/** What walking an expression found. */
interface EstimatedWork {
  /** What is wrong, and with which part. */
  readonly flaw: { readonly message: string; readonly node: ASTNode } | null
  readonly reads: Reads
  /** The steps that it takes at most, some 25 ns each; those of a failure that ends it are not among them. */
  readonly cost: number
}

/** Adds up a checked expression by the sizes of what it can look at, and refuses a function that is not ours. */
export function estimateWork(root: ASTNode, sizes: HeadSizes): EstimatedWork {
  const estimate = new Estimate(sizes)
  estimate.visit(root, { bound: new Map(), times: 1, part: { mayGoOn: false } })
  const { flaw, reads, cost } = estimate
  return { flaw, reads, cost: Number.isNaN(cost) ? Number.POSITIVE_INFINITY : cost }
}

/** Where a part stands: in loops, and so often is it evaluated. */
interface Place {
  readonly bound: ReadonlyMap<string, Size>
  readonly times: number
  /** The part that a failure ends, after which the whole may go on: it fails once. */
  readonly part: { mayGoOn: boolean }
}

/** To begin an evaluation, and to make an error. */
const beginning = 8
export const failure = 120
const structures: ReadonlySet<string> = new Set(['request', 'response', 'error'])
const listNames: ReadonlySet<string> = new Set(['dns_names', 'uris', 'emails'])
const loops: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter'])

class Estimate {
  flaw: EstimatedWork['flaw'] = null
  cost = beginning
  readonly reads = { geo: false, path: false, query: false, headers: new Set<string>() as Set<string> | null }
  readonly #line: Size
  readonly #headers: Size

  constructor({ text, others, names, values }: HeadSizes) {
    this.#line = textOf(text)
    const largest = listOf(values, textOf(others), textOf(text))
    this.#headers = listOf(names, listOf(1, textOf(others)), largest)
  }

  /** Adds up a node, and gives the size of its value. */
  visit(node: ASTNode, place: Place): Size {
    if (this.flaw !== null) return scalar
    const { times } = place
    const inner = (part: ASTNode): Size => this.visit(part, place)
    this.#spend(times)
    if (failingOperators.has(node.op) && !isLookup(node.op)) this.#fail(place)
    switch (node.op) {
      case 'value':
        return typeof node.args === 'string' ? textOf(node.args.length) : scalar
      case 'id':
        return this.#variable(node, node.args, place)
      case '.':
      case '.?':
        return this.#member(node.args[0], node.args[1], place)
      case '[]':
      case '[?]': {
        const [of, key] = node.args
        const name = key.op === 'value' && typeof key.args === 'string' ? key.args : null
        const { held } = inner(key)
        const from = name !== null && isHeaders(of, place) ? listOf(1, this.#header(name)) : inner(of)
        // What a loop over the headers goes through is there.
        if (held !== null && from === this.#headers) return held
        this.#fail(place)
        return memberOf(from)
      }
      case 'list':
        return listOf(node.args.length, larger(node.args.map(inner)))
      case 'map':
        return listOf(node.args.length, larger(node.args.flat().map(inner)))
      case 'call':
        return this.#call(node, node.args[0], node.args[1].map(inner), place)
      case 'rcall': {
        const [name, receiver, args] = node.args
        const of = inner(receiver)
        if (loops.has(name)) return this.#loop(name, of, args, place)
        return this.#call(node, name, [of, ...args.map(inner)], place)
      }
      case '||':
      case '&&':
        // What fails last ends the whole.
        this.visit(node.args[0], { ...place, part: { mayGoOn: true } })
        return inner(node.args[1])
      case '?:':
        return larger(node.args.map(inner))
      case '!_':
      case '-_':
        return inner(node.args)
      case '+':
        return this.#sum(node.args.map(inner), times)
      case 'in':
        // Not searched, but looked up.
        if (isHeaders(node.args[1], place)) return inner(node.args[0])
        this.#find(node.args.map(inner), times)
        return scalar
      default:
        this.#compare(node.args.map(inner), times)
        return scalar
    }
  }

  #variable(node: ASTNode, name: string, { bound }: Place): Size {
    const size = bound.get(name)
    if (size === undefined && structures.has(name))
      this.#refuse(`${name} cannot be used as a value, only its fields can`, node)
    return size ?? this.#line
  }

  #member(of: ASTNode, name: string, place: Place): Size {
    if (isHeaders(of, place)) return this.#header(name)
    if (isOfTls(of, place)) return this.#tlsMember(name)
    if (of.op !== 'id' || place.bound.has(of.args) || !structures.has(of.args)) {
      this.#fail(place)
      return memberOf(this.visit(of, place))
    }
    if (of.args !== 'request') return textOf(64)
    // One that readers take for different ones fails at each step of a loop.
    if (name === 'method' && place.times > 1) this.#fail(place)
    return this.#requestMember(name)
  }

  #requestMember(name: string): Size {
    if (name === 'country' || name === 'asn') this.reads.geo = true
    if (name === 'headers') this.reads.headers = null
    if (name === 'headers') return this.#headers
    if (name !== 'path' && name !== 'query') return textOf(256)
    this.reads[name] = true
    return this.#line
  }

  /** Such as a name or the names of a certificate. */
  #tlsMember(name: string): Size {
    this.#spend(2)
    return listNames.has(name)
      ? listOf(mostNames, textOf(usualName), textOf(longestName))
      : textOf(longestName)
  }

  #header(name: string): Size {
    this.reads.headers?.add(name)
    return this.#headers.one!
  }

  #loop(name: string, of: Size, [variable, ...bodies]: readonly ASTNode[], place: Place): Size {
    if (variable?.op !== 'id') return scalar
    // A map is walked by its names.
    const isMap = of === this.#headers
    const item = isMap ? nameOf(of.item) : (of.item ?? scalar)
    const visitBodies = (item: Size, times: number): Size => {
      const bound = new Map(place.bound).set(variable.args, item)
      const inside = { bound, times: place.times * times, part: { mayGoOn: true } }
      this.#spend(2 * inside.times)
      return bodies.map(body => this.visit(body, inside)).at(-1) ?? scalar
    }
    const found = visitBodies(item, Math.max(1, of.length))
    const largest = isMap ? nameOf(of.one) : of.one
    const one = largest && visitBodies(largest, 1)
    if (name === 'map') return listOf(of.length, found, one)
    return name === 'filter' ? listOf(of.length, item, largest) : scalar
  }

  #call(node: ASTNode, name: string, sizes: readonly Size[], place: Place): Size {
    const { times } = place
    const canFail = functions.get(name)
    if (canFail === undefined) this.#refuse(`unknown function ${name}()`, node)
    if (canFail) this.#fail(place)
    const [of = scalar, by] = sizes
    if (name === 'startsWith' || name === 'endsWith') this.#compare(sizes, times)
    else if (name === 'contains') this.#spend((times * of.length * Math.max(1, (by?.length ?? 1) / 256)) / 5)
    else if (name === 'size' && of.item !== null) return scalar
    else if (name !== 'orValue' && name !== 'hasValue') this.#scan(sizes, times)
    if (name === 'split') return this.#split(of, times)
    if (name === 'join') return this.#join(of, by ?? scalar, times)
    return name === 'orValue' ? larger(sizes) : of
  }

  #split(of: Size, times: number): Size {
    this.#spend((times * of.length) / 2)
    // The parts are no longer together than the whole.
    return listOf(of.length, textOf(Math.min(2, of.length)), of)
  }

  #join(of: Size, by: Size, times: number): Size {
    const length = of.length * ((of.item?.length ?? 1) + by.length)
    this.#spend((times * length) / 16)
    return textOf(length)
  }

  #sum(sizes: readonly Size[], times: number): Size {
    const length = sizes.reduce((total, size) => total + size.length, 0)
    this.#spend((times * length) / 16)
    return { ...larger(sizes), length }
  }

  /** Adds up a look at every character or member of the values. */
  #scan(sizes: readonly Size[], times: number): void {
    for (const size of sizes) this.#spend((times * weigh(size)) / 6)
  }

  /** Adds up a look at every member of the values, at most of which their beginning tells enough. */
  #find(sizes: readonly Size[], times: number): void {
    for (const size of sizes) this.#spend((times * weigh(size)) / 32)
  }

  /** Adds up a look at two values as far as the smaller one goes. */
  #compare(sizes: readonly Size[], times: number): void {
    this.#spend((times * Math.min(...sizes.map(weigh))) / 32)
  }

  /** Adds up a failure, after which another part goes on. */
  #fail({ times, part }: Place): void {
    if (part.mayGoOn) this.#spend(times * failure)
    part.mayGoOn = false
  }

  #spend(work: number): void {
    this.cost += work
  }

  #refuse(message: string, node: ASTNode): void {
    this.flaw ??= { message, node }
  }
}

function isLookup(op: string): boolean {
  return op === '[]' || op === '[?]'
}

/** Whether it is `request.tls`, or `client` of that. */
function isOfTls(node: ASTNode, place: Place): boolean {
  if (node.op !== '.') return false
  const [of, name] = node.args
  if (name === 'client') return isOfTls(of, place)
  return name === 'tls' && of.op === 'id' && of.args === 'request' && !place.bound.has('request')
}

function isHeaders(node: ASTNode, { bound }: Place): boolean {
  if (node.op !== '.' || node.args[1] !== 'headers') return false
  const [of] = node.args
  return of.op === 'id' && of.args === 'request' && !bound.has('request')
}
