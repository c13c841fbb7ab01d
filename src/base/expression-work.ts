// How much work an expression can be at most, told before it ever runs: an evaluation cannot be interrupted. Called by expression.
import type { ASTNode } from '@marcbachmann/cel-js'
import { failingOperators, functions } from './expression-functions.ts'
import { type HeadSizes, type Reads, sizes } from './expression-guard.ts'
import { longestText } from './expression-pattern.ts'
import { larger, listOf, memberOf, type Size, scalar, textOf, weigh } from './expression-size.ts'

/** Tells what walking an expression found. */
export interface Work {
  /** What is wrong, and with which part. */
  readonly flaw: { readonly message: string; readonly node: ASTNode } | null
  readonly reads: Reads
  /** What adds up over the expressions of a list, in units of some 50 ns. */
  readonly cost: number
  /** The heads that this holds for. */
  readonly sizes: HeadSizes
}

/** The most work of one expression. */
export const mostWork = 1_000_000

/** Adds up a checked expression by the sizes of what it can look at, and refuses what is more than some 50 ms even of small heads, or a function that is not ours. */
export function estimateWork(root: ASTNode): Work {
  const small = estimate(root, sizes.small)
  if (small.flaw !== null) return small
  const largest = estimate(root, sizes.largest)
  // Few heads are of the largest, so that less of them counts in a sum.
  if (largest.flaw === null) return { ...largest, cost: Math.max(small.cost, largest.cost / 16) }
  const few = estimate(root, sizes.few)
  return few.flaw === null ? { ...few, cost: Math.max(small.cost, few.cost / 16) } : small
}

function estimate(root: ASTNode, sizes: HeadSizes): Work {
  const estimate = new Estimate(sizes)
  estimate.visit(root, { bound: new Map(), times: 1 })
  const { flaw, reads, cost } = estimate
  return { flaw, reads, cost, sizes }
}

/** Where a part stands: in loops, and so often is it evaluated. */
interface Place {
  readonly bound: ReadonlyMap<string, Size>
  readonly times: number
}

const failure = 100 // to make an error, with its stack; a loop may go on after it
const structures: ReadonlySet<string> = new Set(['request', 'response', 'error'])
const loops: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter'])

class Estimate {
  flaw: Work['flaw'] = null
  cost = 0
  readonly reads = { geo: false, path: false, query: false, headers: new Set<string>() as Set<string> | null }
  readonly #line: Size
  readonly #headers: Size

  constructor({ names, values, value, line }: HeadSizes) {
    this.#line = textOf(line)
    this.#headers = listOf(names, listOf(values, textOf(value)))
  }

  /** Adds up a node, and gives the size of its value. */
  visit(node: ASTNode, place: Place): Size {
    if (this.flaw !== null) return scalar
    const { times } = place
    const inner = (part: ASTNode): Size => this.visit(part, place)
    this.#spend(failingOperators.has(node.op) ? times * failure : times, node)
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
        if (name !== null && isHeaders(of, place)) return this.#header(name)
        inner(key)
        return memberOf(inner(of))
      }
      case 'list':
        return listOf(node.args.length, larger(node.args.map(inner)))
      case 'map':
        return listOf(node.args.length, larger(node.args.flat().map(inner)))
      case 'call':
        return this.#call(node, node.args[0], node.args[1].map(inner), times)
      case 'rcall': {
        const [name, receiver, args] = node.args
        const of = inner(receiver)
        if (loops.has(name)) return this.#loop(name, of, args, place)
        return this.#call(node, name, [of, ...args.map(inner)], times)
      }
      case '?:':
        return larger(node.args.map(inner))
      case '!_':
      case '-_':
        return inner(node.args)
      case '+':
        return this.#sum(node, node.args.map(inner), times)
      case 'in':
        // Not searched, but looked up.
        if (isHeaders(node.args[1], place)) return inner(node.args[0])
        this.#scan(node, node.args.map(inner), times)
        return scalar
      default:
        this.#compare(node, node.args.map(inner), times)
        return scalar
    }
  }

  #variable(node: ASTNode, name: string, { bound }: Place): Size {
    const size = bound.get(name)
    if (size === undefined && structures.has(name)) this.#refuse(`${name} is asked for its members`, node)
    return size ?? this.#line
  }

  #member(of: ASTNode, name: string, place: Place): Size {
    if (isHeaders(of, place)) return this.#header(name)
    if (of.op !== 'id' || place.bound.has(of.args) || !structures.has(of.args)) {
      this.#spend(place.times * failure, of)
      return memberOf(this.visit(of, place))
    }
    return of.args === 'request' ? this.#requestMember(name) : textOf(64)
  }

  #requestMember(name: string): Size {
    if (name === 'country' || name === 'asn') this.reads.geo = true
    if (name === 'headers') this.reads.headers = null
    if (name === 'headers') return this.#headers
    if (name !== 'path' && name !== 'query') return textOf(256)
    this.reads[name] = true
    return this.#line
  }

  #header(name: string): Size {
    this.reads.headers?.add(name)
    return this.#headers.item!
  }

  #loop(name: string, of: Size, [variable, ...bodies]: readonly ASTNode[], place: Place): Size {
    if (variable?.op !== 'id') return scalar
    // A map is walked by its names.
    const item = of === this.#headers ? textOf(64) : (of.item ?? scalar)
    const visitBodies = (item: Size, times: number): Size => {
      const inside = { bound: new Map(place.bound).set(variable.args, item), times: place.times * times }
      return bodies.map(body => this.visit(body, inside)).at(-1) ?? scalar
    }
    const found = visitBodies(item, Math.max(1, of.length))
    const one = of.one && visitBodies(of.one, 1)
    if (name === 'map') return { length: of.length, item: found, one }
    return name === 'filter' ? { length: of.length, item, one: of.one } : scalar
  }

  #call(node: ASTNode, name: string, sizes: readonly Size[], times: number): Size {
    const canFail = functions.get(name)
    if (canFail === undefined) this.#refuse(`there is no function ${name}()`, node)
    if (canFail) this.#spend(times * failure, node)
    const [of = scalar, by] = sizes
    if (name === 'startsWith' || name === 'endsWith') this.#compare(node, sizes, times)
    else if (name === 'matches') this.#scan(node, [textOf(Math.min(of.length, longestText))], times)
    else if (name === 'contains') this.#search(node, of, by ?? scalar, times)
    else if (name !== 'orValue' && name !== 'hasValue') this.#scan(node, sizes, times)
    if (name === 'split') return this.#split(node, of, times)
    if (name === 'join') return this.#join(node, of, by ?? scalar, times)
    return name === 'orValue' ? larger(sizes) : of
  }

  #split(node: ASTNode, of: Size, times: number): Size {
    this.#spend(times * of.length, node)
    return { length: of.length, item: textOf(Math.min(64, of.length)), one: of }
  }

  #join(node: ASTNode, of: Size, by: Size, times: number): Size {
    const length = of.length * ((of.item?.length ?? 1) + by.length)
    this.#spend((times * length) / 16, node)
    return textOf(length)
  }

  #sum(node: ASTNode, sizes: readonly Size[], times: number): Size {
    const length = sizes.reduce((total, size) => total + size.length, 0)
    this.#spend((times * length) / 16, node)
    return { ...larger(sizes), length }
  }

  /** Adds up a look at every character or member of the values. */
  #scan(node: ASTNode, sizes: readonly Size[], times: number): void {
    for (const size of sizes) this.#spend((times * weigh(size)) / 8, node)
  }

  /** Adds up a look at two values as far as the smaller one goes. */
  #compare(node: ASTNode, sizes: readonly Size[], times: number): void {
    this.#spend((times * Math.min(...sizes.map(weigh))) / 8, node)
  }

  /** Adds up the search for a text, which is the engine's and quick, but looks at a long one again and again. */
  #search(node: ASTNode, of: Size, by: Size, times: number): void {
    this.#spend((times * of.length * Math.max(1, by.length / 32)) / 16, node)
  }

  #spend(work: number, node: ASTNode): void {
    this.cost += work
    if (!(this.cost <= mostWork)) this.#refuse('it could be too much work for one request', node)
  }

  #refuse(message: string, node: ASTNode): void {
    this.flaw ??= { message, node }
  }
}

function isHeaders(node: ASTNode, { bound }: Place): boolean {
  if (node.op !== '.' || node.args[1] !== 'headers') return false
  const [of] = node.args
  return of.op === 'id' && of.args === 'request' && !bound.has('request')
}
