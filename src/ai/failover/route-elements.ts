// The elements of dynamic routes, in the shape of their published client: what they must agree on as a whole,
// and the route that they are compiled to.

import { isObject, pointerStep } from '../../base/text/json.ts'
import type { RouteElement } from '../../store/records/model-route.ts'
import type { RouteNode } from './model-route.ts'
import { conditionFlaw, isFact } from './route-condition.ts'

/** A broken rule, in words that follow the place. */
interface ElementFlaw {
  /** JSON pointer in the body (RFC 6901). */
  readonly pointer: string
  readonly place: string
  readonly rule: string
}

export const maxElements = 100
/** Characters of JSON of all elements of a version. */
const maxElementsLength = 32 * 1024
export const maxShares = 5
export const maxRate = 1_000_000_000
/** US dollars. */
const maxCostRate = 1_000_000
/** Seconds: a call may take as long as that. */
const minCostWindow = 60
export const maxRateWindow = 31 * 86_400
export const maxModelTimeout = 3_600_000
export const maxModelRetries = 4
const maxIdLength = 64
const maxModelLength = 256
const visible = /^[!-~]+$/

/** What each type has besides `id` and `type`. */
const shapes = {
  start: { outputs: ['next'], properties: [] },
  conditional: { outputs: ['true', 'false'], properties: ['conditions'] },
  percentage: { outputs: null, properties: [] },
  rate: { outputs: ['success', 'fallback'], properties: ['key', 'limit', 'limitType', 'window'] },
  model: { outputs: ['success', 'fallback'], properties: ['provider', 'model', 'timeout', 'retries'] },
  end: { outputs: [], properties: [] },
} as const

type ElementType = keyof typeof shapes

/** Reads the elements of a version; `isModel` says whether provider/model can be called. */
export function readElements(
  value: unknown,
  isModel: (name: string) => boolean,
): readonly RouteElement[] | { readonly flaws: readonly ElementFlaw[] } {
  const pointer = '/elements'
  const refuse = (rule: string) => ({ flaws: [{ pointer, place: 'elements', rule }] })
  if (!Array.isArray(value) || value.length === 0 || value.length > maxElements)
    return refuse(`must be a list of 1 to ${maxElements} elements`)
  if (JSON.stringify(value).length > maxElementsLength)
    return refuse(`must have at most ${maxElementsLength} characters as JSON`)
  const flaws = value.flatMap((element, i) => {
    const place = new Place(`${pointer}/${i}`, nameOf(element, i))
    readElement(element, place, isModel)
    return place.flaws
  })
  if (flaws.length > 0) return { flaws }
  const elements = value as RouteElement[]
  const ofGraph = graphFlaws(elements, i => new Place(`${pointer}/${i}`, nameOf(elements[i], i)))
  return ofGraph.length > 0 ? { flaws: ofGraph } : elements
}

function nameOf(element: unknown, i: number): string {
  const isNamed = isObject(element) && typeof element.id === 'string' && isId(element.id)
  return isNamed ? `element ${JSON.stringify(element.id)}` : `elements[${i}]`
}

/** An element, for messages about it. */
class Place {
  readonly flaws: ElementFlaw[] = []
  readonly #pointer: string
  readonly #name: string

  constructor(pointer: string, name: string) {
    this.#pointer = pointer
    this.#name = name
  }

  refuse(rule: string, ...path: string[]): void {
    const pointer = this.#pointer + path.map(pointerStep).join('')
    const place = path.length === 0 ? this.#name : `${path.join('.')} of ${this.#name}`
    this.flaws.push({ pointer, place, rule })
  }
}

function readElement(element: unknown, place: Place, isModel: (name: string) => boolean): void {
  if (!isObject(element)) return place.refuse('must be an object')
  const { id, type, outputs, properties } = element
  if (typeof id !== 'string' || !isId(id))
    place.refuse(`must be a string of 1 to ${maxIdLength} printable characters`, 'id')
  if (typeof type !== 'string' || !Object.hasOwn(shapes, type))
    return place.refuse(`must be one of ${Object.keys(shapes).join(', ')}`, 'type')
  const shape = shapes[type as ElementType]
  const members = ['id', 'type', 'outputs', ...(shape.properties.length > 0 ? ['properties'] : [])]
  for (const name of Object.keys(element))
    if (!members.includes(name)) place.refuse('is an unknown member', short(name))
  readOutputs(type as ElementType, outputs, place)
  if (shape.properties.length > 0) readProperties(type as ElementType, properties, place, isModel)
}

function readOutputs(type: ElementType, outputs: unknown, place: Place): void {
  if (type === 'end' && outputs === undefined) return
  if (!isObject(outputs)) return place.refuse('must be an object', 'outputs')
  const names: readonly string[] = shapes[type].outputs ?? Object.keys(outputs)
  for (const name of names)
    if (!Object.hasOwn(outputs, name)) place.refuse('is required: it would be a dead end', 'outputs', name)
  for (const [name, output] of Object.entries(outputs)) {
    const isKnown = names.includes(name)
    if (!isKnown) place.refuse('is an unknown output', 'outputs', short(name))
    else if (!isObject(output) || typeof output.elementId !== 'string' || Object.keys(output).length !== 1)
      place.refuse('must be an object with an elementId', 'outputs', short(name))
  }
  if (type === 'percentage') readShares(Object.keys(outputs), place)
}

function readShares(names: readonly string[], place: Place): void {
  const shares = names.filter(name => name !== 'else')
  for (const name of shares)
    if (percentOf(name) === null)
      place.refuse('must be named by its percentage, such as 20% or 20% canary', 'outputs', short(name))
  if (place.flaws.length > 0) return
  if (shares.length === 0 || shares.length > maxShares)
    return place.refuse(`must have 1 to ${maxShares} percentages`, 'outputs')
  const sum = sumOf(shares)
  if (!names.includes('else')) {
    if (sum !== 100) place.refuse(`must add up to 100% or have an else; they add up to ${sum}%`, 'outputs')
  } else if (sum >= 100) place.refuse(`leaves no calls: the percentages add up to ${sum}%`, 'outputs', 'else')
}

/** Returns the percentage that an output is named by, above 0 and up to 100; null if it is not. */
function percentOf(name: string): number | null {
  const percent = Number(/^(\d{1,3}(?:\.\d{1,2})?)%(?: \S.{0,31})?$/su.exec(name)?.[1] ?? 0)
  return percent > 0 && percent <= 100 ? percent : null
}

/** Adds up percentages of at most two decimals, without errors of rounding. */
function sumOf(names: readonly string[]): number {
  return names.reduce((sum, name) => sum + Math.round(percentOf(name)! * 100), 0) / 100
}

function readProperties(
  type: ElementType,
  properties: unknown,
  place: Place,
  isModel: (name: string) => boolean,
): void {
  if (!isObject(properties)) return place.refuse('must be an object', 'properties')
  const names: readonly string[] = shapes[type].properties
  for (const name of Object.keys(properties))
    if (!names.includes(name)) place.refuse('is an unknown member', 'properties', short(name))
  for (const name of names)
    if (!Object.hasOwn(properties, name)) place.refuse('is required', 'properties', name)
  if (place.flaws.length > 0) return
  const refuse = (name: string, rule: string) => place.refuse(rule, 'properties', name)
  const whole = (name: string, min: number, max: number) => {
    const value = properties[name]
    if (!Number.isInteger(value) || (value as number) < min || (value as number) > max)
      refuse(name, `must be a whole number from ${min} to ${max}`)
  }
  if (type === 'conditional') {
    const flaw = conditionFlaw(properties.conditions)
    if (flaw !== null) refuse('conditions', flaw)
  } else if (type === 'rate') {
    const { key, limitType } = properties
    if (typeof key !== 'string' || (key !== 'gateway' && !isFact(key)))
      refuse('key', 'must be gateway, token, app, person or metadata.NAME')
    if (limitType !== 'count' && limitType !== 'cost') refuse('limitType', 'must be count or cost')
    if (limitType !== 'cost') whole('limit', 1, maxRate)
    else if (!isDollars(properties.limit))
      refuse(
        'limit',
        `must be a number of USD above 0, up to ${maxCostRate}, with at most 9 decimals, since limitType is cost`,
      )
    whole('window', limitType === 'cost' ? minCostWindow : 1, maxRateWindow)
  } else {
    const { provider, model } = properties
    if (typeof provider !== 'string' || provider === '' || provider.includes('/'))
      refuse('provider', 'must be the name of a provider')
    else if (typeof model !== 'string' || !visible.test(model))
      refuse('model', 'must be the name of a model, in visible ASCII characters')
    else if (provider.length + model.length >= maxModelLength)
      refuse('model', `must have at most ${maxModelLength} characters with its provider`)
    else if (!isModel(`${provider}/${model}`))
      refuse('model', `has an unknown provider or resource: ${JSON.stringify(`${provider}/${model}`)}`)
    whole('timeout', 1, maxModelTimeout)
    whole('retries', 0, maxModelRetries)
  }
}

/** A whole number of nanodollars: that is how costs are counted. */
function isDollars(value: unknown): boolean {
  return typeof value === 'number' && value > 0 && value <= maxCostRate && Number(value.toFixed(9)) === value
}

function isId(text: string): boolean {
  return text.length > 0 && text.length <= maxIdLength && !/[\p{C}\p{Zl}\p{Zp}]/u.test(text)
}

function short(name: string): string {
  return name.slice(0, maxIdLength).toWellFormed()
}

/** Returns what is wrong with elements each of which is right by itself. */
function graphFlaws(
  elements: readonly RouteElement[],
  placeOf: (index: number) => Place,
): readonly ElementFlaw[] {
  const places = elements.map((_, i) => placeOf(i))
  const indexes = new Map<string, number>()
  for (const [i, { id }] of elements.entries()) {
    if (indexes.has(id)) places[i]!.refuse('has the id of another element')
    else indexes.set(id, i)
  }
  const starts = elements.filter(({ type }) => type === 'start')
  const [start] = starts
  if (start === undefined)
    return [{ pointer: '/elements', place: 'elements', rule: 'must have an element of type start' }]
  for (const [i, element] of elements.entries()) {
    if (element.type === 'start' && element !== start) places[i]!.refuse('is a second start')
    for (const [name, { elementId }] of outputsOf(element)) {
      const next = indexes.get(elementId)
      if (next === undefined)
        places[i]!.refuse(
          `leads to an unknown element, ${JSON.stringify(short(elementId))}`,
          'outputs',
          short(name),
        )
      else if (element.type === 'model' && name === 'success' && elements[next]!.type !== 'end')
        places[i]!.refuse('must lead to an end', 'outputs', name)
    }
  }
  if (places.every(({ flaws }) => flaws.length === 0))
    walk(start, { elements, places, indexes }, new Set(), new Set())
  const flaws = places.flatMap(({ flaws }) => flaws)
  if (flaws.length > 0) return flaws
  refuseNoModel(start, { elements, places, indexes }, new Set())
  return places.flatMap(({ flaws }) => flaws)
}

interface Graph {
  readonly elements: readonly RouteElement[]
  readonly places: readonly Place[]
  readonly indexes: ReadonlyMap<string, number>
}

/** Refuses loops, each where it closes, and elements to which nothing leads. */
function walk(start: RouteElement, graph: Graph, visited: Set<RouteElement>, path: Set<RouteElement>): void {
  visit(start)
  for (const [i, element] of graph.elements.entries())
    if (!visited.has(element)) graph.places[i]!.refuse('is unreachable: nothing leads to it')

  function visit(element: RouteElement): void {
    visited.add(element)
    path.add(element)
    for (const [name, { elementId }] of outputsOf(element)) {
      const next = graph.elements[graph.indexes.get(elementId)!]!
      if (path.has(next))
        placeIn(graph, element).refuse(
          `closes a loop: it leads back to element ${JSON.stringify(next.id)}`,
          'outputs',
          short(name),
        )
      else if (!visited.has(next)) visit(next)
    }
    path.delete(element)
  }
}

/** Refuses outputs by which a call comes to an end without a model, unless it is over a rate. */
function refuseNoModel(element: RouteElement, graph: Graph, visited: Set<RouteElement>): void {
  if (element.type === 'model' || visited.has(element)) return
  visited.add(element)
  for (const [name, { elementId }] of outputsOf(element)) {
    const next = graph.elements[graph.indexes.get(elementId)!]!
    if (next.type !== 'end') refuseNoModel(next, graph, visited)
    else if (element.type !== 'rate' || name !== 'fallback')
      placeIn(graph, element).refuse('leads to an end without a model', 'outputs', short(name))
  }
}

function placeIn({ places, indexes }: Graph, { id }: RouteElement): Place {
  return places[indexes.get(id)!]!
}

function outputsOf({ outputs = {} }: RouteElement): [string, { readonly elementId: string }][] {
  return Object.entries(outputs)
}

/** Compiles the elements of a version; `name` is unique among all routes, for the counts of rates. */
export function compileElements(elements: readonly RouteElement[], name: string): RouteNode | null {
  const byId = new Map(elements.map(element => [element.id, element]))
  const nodes = new Map<string, RouteNode | null>()
  return nodeAt(elements.find(({ type }) => type === 'start')!.id)

  function nodeAt(id: string): RouteNode | null {
    const cachedNode = nodes.get(id)
    if (cachedNode !== undefined) return cachedNode
    const node = nodeOf(byId.get(id)!)
    nodes.set(id, node)
    return node
  }

  function nodeOf(element: RouteElement): RouteNode | null {
    switch (element.type) {
      case 'start':
        return nodeAt(element.outputs.next.elementId)
      case 'end':
        return null
      case 'conditional':
        return {
          type: 'conditional',
          condition: element.properties.conditions,
          whenTrue: nodeAt(element.outputs.true.elementId),
          whenFalse: nodeAt(element.outputs.false.elementId),
        }
      case 'percentage':
        return { type: 'share', shares: sharesOf(element.outputs) }
      case 'rate': {
        const { key, limit, limitType, window } = element.properties
        return {
          type: 'rate',
          name: `${name} ${element.id}`,
          element: element.id,
          unit: limitType,
          key: key === 'gateway' ? null : key,
          limit,
          window: window * 1000,
          within: nodeAt(element.outputs.success.elementId),
          beyond: nodeAt(element.outputs.fallback.elementId),
        }
      }
      case 'model': {
        const { provider, model, timeout, retries } = element.properties
        const fallback = nodeAt(element.outputs.fallback.elementId)
        return { type: 'model', model: `${provider}/${model}`, timeout, retries, fallback }
      }
    }
  }

  function sharesOf(outputs: Readonly<Record<string, { readonly elementId: string }>>) {
    const { else: others, ...named } = outputs
    const shares = Object.entries(named).map(([name, { elementId }]) => ({
      percent: percentOf(name)!,
      next: nodeAt(elementId),
    }))
    if (others === undefined) return shares
    return [...shares, { percent: 100 - sumOf(Object.keys(named)), next: nodeAt(others.elementId) }]
  }
}
