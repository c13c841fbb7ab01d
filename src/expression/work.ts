// What an expression reads, may call and costs, determined before it ever runs.

import type { ASTNode } from '@marcbachmann/cel-js'
import { costOfCall, meter } from './meter.ts'
import { typical } from './work-budget.ts'

interface Survey {
  readonly flaw: { readonly message: string; readonly node: ASTNode } | null
  readonly readsGeo: boolean
  readonly readsPath: boolean
  readonly readsModel: boolean
  readonly work: number
}

/** Walks a checked expression, refuses functions that are not allowed, and meters all others. */
export function survey(root: ASTNode): Survey {
  const walk = new Walk()
  walk.visit(root, { bound: new Set(), times: 1 })
  return walk
}

interface Place {
  readonly bound: ReadonlySet<string>
  readonly times: number
}

export const beginning = 8
const textSteps = typical.text / 64
/** The usual argument of functions: a text of a request, or one of the elements that a loop iterates over. */
const typicalText = ' '.repeat(typical.text)
const typicalPart = ' '.repeat(64)
const structures: ReadonlySet<string> = new Set(['request', 'response', 'error', 'mcp'])
const loops: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter'])
const functions: ReadonlySet<string> = new Set([
  'bool',
  'contains',
  'double',
  'endsWith',
  'has',
  'hasValue',
  'indexOf',
  'int',
  'join',
  'lastIndexOf',
  'lowerAscii',
  'matches',
  'orValue',
  'size',
  'split',
  'startsWith',
  'string',
  'substring',
  'trim',
  'uint',
  'upperAscii',
])

class Walk implements Survey {
  flaw: Survey['flaw'] = null
  readsGeo = false
  readsPath = false
  readsModel = false
  work = beginning

  visit(node: ASTNode, place: Place): void {
    this.work += place.times
    switch (node.op) {
      case 'value':
        return
      case 'id':
        if (isStructure(node, place))
          this.#refuse(`${node.args} cannot be used as a value, only its fields can`, node)
        if (node.args === 'model' && !place.bound.has('model')) this.readsModel = true
        return
      case '.':
      case '.?':
        return isStructure(node.args[0], place)
          ? this.#read(node.args[1], place)
          : this.visit(node.args[0], place)
      case 'call':
        this.#call(node, node.args[0], place)
        return this.#visitAll(node.args[1], place)
      case 'rcall': {
        const [name, receiver, args] = node.args
        this.visit(receiver, place)
        if (loops.has(name)) return this.#loop(receiver, args, place)
        this.#call(node, name, place)
        return this.#visitAll(args, place)
      }
      default:
        meter(node)
        this.#visitAll([node.args].flat(2) as ASTNode[], place)
    }
  }

  #visitAll(nodes: readonly ASTNode[], place: Place): void {
    for (const node of nodes) this.visit(node, place)
  }

  #read(name: string, { times }: Place): void {
    if (name === 'country' || name === 'asn') this.readsGeo = true
    if (name === 'path') this.readsPath = true
    if (name === 'path' || name === 'query') this.work += times * textSteps
  }

  #loop(over: ASTNode, [variable, ...bodies]: readonly ASTNode[], { bound, times }: Place): void {
    if (variable?.op !== 'id') return
    const inside = { bound: new Set([...bound, variable.args]), times: times * typicalLength(over) }
    this.#visitAll(bodies, inside)
  }

  #call(node: ASTNode, name: string, { times }: Place): void {
    if (!functions.has(name)) return this.#refuse(`unknown function ${name}()`, node)
    this.work += times * (costOfCall(name)?.(times === 1 ? typicalText : typicalPart) ?? 0)
    // A pattern meters itself.
    if (name !== 'matches') meter(node)
  }

  #refuse(message: string, node: ASTNode): void {
    this.flaw ??= { message, node }
  }
}

function isStructure(node: ASTNode, { bound }: Place): boolean {
  return node.op === 'id' && structures.has(node.args) && !bound.has(node.args)
}

function typicalLength(over: ASTNode): number {
  if (over.op === 'list') return over.args.length
  if (over.op === '[]' || over.op === '[?]') return typical.values
  const [name, , args] = over.op === 'rcall' ? over.args : []
  if (name === 'orValue') return typical.values
  return name === 'split' && args![0]!.args === '' ? typical.text : typical.names
}
