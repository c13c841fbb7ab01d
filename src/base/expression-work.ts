// How much work an expression can be at most, told before it ever runs: an evaluation cannot be interrupted. Called by expression.
import type { ASTNode } from '@marcbachmann/cel-js'

/** Tells what walking an expression found. */
export interface Work {
  /** What is wrong, and with which part. */
  readonly flaw: { readonly message: string; readonly node: ASTNode } | null
  readonly readsGeo: boolean
  /** Whether it holds only for headers within `assumed`. */
  readonly nestsLoops: boolean
}

/** What is taken for granted of headers where loops nest. */
export const assumed = { names: 128, values: 8 } as const

/** Adds up a checked expression by the sizes of what it can look at, and refuses what is more than some 50 ms, or a function that is not ours. */
export function estimateWork(root: ASTNode): Work {
  const estimate = new Estimate()
  estimate.visit(root, { bound: new Map(), times: 1, depth: 0 })
  return estimate
}

/** How large a value can be: characters of a text, members of a list or names of a map, and what one of these holds. */
interface Size {
  readonly length: number
  readonly item: Size | null
}

/** Where a part stands: in loops, and so often is it evaluated. */
interface Place {
  readonly bound: ReadonlyMap<string, Size>
  readonly times: number
  readonly depth: number
}

const mostWork = 1_000_000 // of some 50 ns each
const failure = 100 // to make an error, with its stack; a loop may go on after it
const scalar: Size = { length: 1, item: null }
const longText: Size = { length: 8192, item: null }
const headerText: Size = { length: 1024, item: null }
const headers: Size = { length: assumed.names, item: { length: assumed.values, item: headerText } }
const structures: ReadonlySet<string> = new Set(['request', 'response', 'error'])
const loops: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter'])
/** Our functions, and whether they can fail. */
const functions: ReadonlyMap<string, boolean> = new Map([
  ['bool', true],
  ['contains', false],
  ['double', true],
  ['endsWith', false],
  ['has', true],
  ['hasValue', false],
  ['indexOf', true],
  ['int', true],
  ['join', false],
  ['lastIndexOf', true],
  ['lowerAscii', false],
  ['matches', true],
  ['orValue', false],
  ['size', false],
  ['split', false],
  ['startsWith', false],
  ['string', false],
  ['substring', true],
  ['trim', false],
  ['uint', true],
  ['upperAscii', false],
])
const failingOperators: ReadonlySet<string> = new Set(['[]', '[?]', '+', '-', '*', '/', '%', '-_'])

class Estimate implements Work {
  flaw: Work['flaw'] = null
  readsGeo = false
  nestsLoops = false
  #work = 0

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
        const of = inner(node.args[0])
        inner(node.args[1])
        return of.item ?? scalar
      }
      case 'list':
        return listOf(node.args.map(inner))
      case 'map':
        return { ...listOf(node.args.flat().map(inner)), length: node.args.length }
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
      default:
        this.#scan(node, node.args.map(inner), times)
        return scalar
    }
  }

  #variable(node: ASTNode, name: string, { bound }: Place): Size {
    const size = bound.get(name)
    if (size === undefined && structures.has(name)) this.#refuse(`${name} is asked for its members`, node)
    return size ?? longText
  }

  #member(of: ASTNode, name: string, place: Place): Size {
    if (of.op !== 'id' || place.bound.has(of.args) || !structures.has(of.args)) {
      this.#spend(place.times * failure, of)
      return this.visit(of, place).item ?? scalar
    }
    if (of.args !== 'request') return textOf(64)
    if (name === 'country' || name === 'asn') this.readsGeo = true
    if (name === 'headers') return headers
    return name === 'path' || name === 'query' ? longText : textOf(256)
  }

  #loop(name: string, of: Size, [variable, ...bodies]: readonly ASTNode[], place: Place): Size {
    if (variable?.op !== 'id') return scalar
    if (place.depth > 0) this.nestsLoops = true
    // A map is walked by its names.
    const item = of === headers ? textOf(64) : (of.item ?? scalar)
    const inside: Place = {
      bound: new Map(place.bound).set(variable.args, item),
      times: place.times * Math.max(1, of.length),
      depth: place.depth + 1,
    }
    const sizes = bodies.map(body => this.visit(body, inside))
    if (name === 'map') return { length: of.length, item: sizes.at(-1) ?? scalar }
    return name === 'filter' ? { length: of.length, item } : scalar
  }

  #call(node: ASTNode, name: string, sizes: readonly Size[], times: number): Size {
    const canFail = functions.get(name)
    if (canFail === undefined) this.#refuse(`there is no function ${name}()`, node)
    if (canFail) this.#spend(times * failure, node)
    const [of = scalar, by] = sizes
    this.#scan(node, sizes, times)
    if (name === 'split') return { length: of.length, item: textOf(Math.min(64, of.length)) }
    if (name === 'join') return this.#join(node, of, by ?? scalar, times)
    return name === 'orValue' ? larger(sizes) : of
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

  #spend(work: number, node: ASTNode): void {
    this.#work += work
    if (!(this.#work <= mostWork)) this.#refuse('it could be too much work for one request', node)
  }

  #refuse(message: string, node: ASTNode): void {
    this.flaw ??= { message, node }
  }
}

function textOf(length: number): Size {
  return { length, item: null }
}

function listOf(items: readonly Size[]): Size {
  return { length: items.length, item: larger(items) }
}

function larger(sizes: readonly Size[]): Size {
  return sizes.reduce((a, b) => {
    const item = a.item === null || b.item === null ? (a.item ?? b.item) : larger([a.item, b.item])
    return { length: Math.max(a.length, b.length), item }
  }, scalar)
}

function weigh(size: Size): number {
  return size.item === null ? size.length : size.length * (16 + weigh(size.item))
}
