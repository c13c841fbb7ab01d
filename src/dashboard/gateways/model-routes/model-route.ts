// A dynamic route of an AI gateway in the form of the management API, and in words.

import { isObject } from '../../../base/text/json.ts'
import type { RouteCondition, RouteElement } from '../../../store/records/model-route.ts'
import { dollars, grouped } from '../../parts/numbers.ts'

export interface DynamicRoute {
  readonly id: string
  readonly name: string
  readonly elements: readonly RouteElement[]
  readonly version: RouteVersion
  readonly deployment: RouteDeployment
  readonly created_at: string
}

export interface RouteVersion {
  readonly version_id: string
  readonly active: 'true' | 'false'
  /** The elements as JSON. */
  readonly data: string
  readonly created_at: string
}

interface RouteDeployment {
  readonly version_id: string
  readonly created_at: string
}

/** Returns where each output of an element leads, by its name. */
export function outputsOf({ outputs = {} }: RouteElement): readonly (readonly [string, string])[] {
  return Object.entries(outputs).map(([name, { elementId }]) => [name, elementId] as const)
}

const maxBrief = 200

/** Returns what a route leads to, as `openai/gpt-4o-mini, then groq/llama`; long ones are cut. */
export function routeInBrief(elements: readonly RouteElement[]): string {
  const byId = new Map(elements.map(element => [element.id, element]))
  let length = 0
  const brief = wayFrom(elements.find(({ type }) => type === 'start')!.id)
  return brief.length > maxBrief ? `${brief.slice(0, maxBrief)}…` : brief

  /** Elements to which many lead are written many times: it ends once there is enough. */
  function wayFrom(id: string): string {
    if (length > maxBrief) return '…'
    const element = byId.get(id)!
    switch (element.type) {
      case 'start':
        return wayFrom(element.outputs.next.elementId)
      case 'end':
        return 'an end'
      case 'model': {
        const { provider, model } = element.properties
        const { elementId } = element.outputs.fallback
        const name = `${provider}/${model}`
        length += name.length
        return byId.get(elementId)!.type === 'end' ? name : `${name}, then ${wayFrom(elementId)}`
      }
      case 'percentage':
        return outputsOf(element)
          .map(([name, next]) => `${name === 'else' ? 'others' : name}: ${wayFrom(next)}`)
          .join('; ')
      case 'conditional':
        return `by condition: ${wayFrom(element.outputs.true.elementId)}; else ${wayFrom(element.outputs.false.elementId)}`
      case 'rate': {
        const { success, fallback } = element.outputs
        const isRefusal = byId.get(fallback.elementId)!.type === 'end'
        return `by rate: ${wayFrom(success.elementId)}; beyond it ${isRefusal ? 'refused' : wayFrom(fallback.elementId)}`
      }
    }
  }
}

/** Returns what an element does with a call. */
export function elementInWords(element: RouteElement): string {
  switch (element.type) {
    case 'start':
      return 'Calls begin here'
    case 'end':
      return 'The way of a call ends'
    case 'percentage':
      return 'Shares calls out'
    case 'conditional':
      return `If ${conditionInWords(element.properties.conditions)}`
    case 'rate': {
      const { key, limit, limitType, window } = element.properties
      const whose = key === 'gateway' ? '' : `, for each ${key}`
      const calls = limit === 1 ? '1 call' : `${grouped(limit)} calls`
      const what = limitType === 'cost' ? `calls for ${dollars(limit)}` : calls
      return `Lets ${what} pass in ${grouped(window)} s${whose}`
    }
    case 'model': {
      const { provider, model, timeout, retries } = element.properties
      const more = retries === 0 ? '' : `, ${retries} ${retries === 1 ? 'retry' : 'retries'}`
      return `Calls ${provider}/${model}: ${timeout / 1000} s until its first content${more}`
    }
  }
}

/** Returns a condition, as `metadata.plan is one of "pro", "team" and token is "x"`. */
export function conditionInWords(condition: RouteCondition): string {
  return Object.entries(condition)
    .map(([name, test]) => {
      if (name === '$not') return `not (${conditionInWords(test as RouteCondition)})`
      if (name === '$and' || name === '$or')
        return (test as readonly RouteCondition[])
          .map(one => `(${conditionInWords(one)})`)
          .join(name === '$and' ? ' and ' : ' or ')
      return isObject(test) ? testsInWords(name, test) : `${name} is ${valueInWords(test)}`
    })
    .join(' and ')
}

function testsInWords(fact: string, tests: Readonly<Record<string, unknown>>): string {
  return Object.entries(tests)
    .map(([operator, operand]) => {
      if (operator === '$not') return `not (${testsInWords(fact, operand as Record<string, unknown>)})`
      if (operator === '$exists') return `${fact} is ${operand === true ? 'set' : 'not set'}`
      return `${fact} ${operators[operator] ?? operator} ${valueInWords(operand)}`
    })
    .join(' and ')
}

const operators: Readonly<Record<string, string>> = {
  $eq: 'is',
  $ne: 'is not',
  $gt: 'is more than',
  $gte: 'is at least',
  $lt: 'is less than',
  $lte: 'is at most',
  $in: 'is one of',
  $nin: 'is none of',
}

function valueInWords(value: unknown): string {
  return Array.isArray(value) ? value.map(valueInWords).join(', ') : JSON.stringify(value)
}

/** Returns the words before the element to which an output leads. */
export function outputInWords({ type }: RouteElement, name: string): string {
  if (type === 'percentage') return name === 'else' ? 'others' : name
  return (
    {
      next: '',
      true: 'yes',
      false: 'no',
      success: type === 'rate' ? 'within' : '',
      fallback: type === 'rate' ? 'beyond' : 'if it fails',
    }[name] ?? name
  )
}
