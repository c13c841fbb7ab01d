// The conditions of model routes: JSON with operators, such as {"metadata.plan": {"$in": ["pro", "team"]}}.

import { isObject } from '../../base/text/json.ts'
import type { RouteCondition, Scalar } from '../../store/records/model-route.ts'

/**
 * Returns the values that a call has for a fact: none if it lacks it, and several if any of them counts, as
 * for a person, who has an id and an e-mail address.
 */
export type CallFacts = (fact: string) => readonly Scalar[]

const maxDepth = 10
const maxTests = 100
const maxLength = 256
const facts = /^(?:token|app|person|metadata\..{1,100})$/su
const factNames = 'metadata.NAME, token, app or person'

/** Whether a text names a fact about a call. */
export function isFact(text: string): boolean {
  return facts.test(text)
}

/** Returns what is wrong with a condition, in words that follow its name; null if nothing is. */
export function conditionFlaw(value: unknown): string | null {
  let tests = 0
  return flawOf(value, 0)

  function flawOf(value: unknown, depth: number): string | null {
    if (!isObject(value)) return 'must be an object, such as {"metadata.plan": {"$eq": "free"}}'
    const entries = Object.entries(value)
    if (entries.length === 0) return 'must not contain an empty condition'
    if (depth > maxDepth) return `must have at most ${maxDepth} levels`
    for (const [name, test] of entries) {
      const flaw = memberFlaw(name, test, depth + 1)
      if (flaw !== null) return flaw
    }
    return null
  }

  function memberFlaw(name: string, test: unknown, depth: number): string | null {
    if (++tests > maxTests) return `must have at most ${maxTests} tests`
    if (name === '$not') return flawOf(test, depth)
    if (name === '$and' || name === '$or') {
      if (!Array.isArray(test) || test.length === 0) return `needs a list of conditions for ${name}`
      return firstFlaw(test, one => flawOf(one, depth))
    }
    const shown = JSON.stringify(name.slice(0, 100))
    if (name.startsWith('$')) return `has an unknown operator, ${shown}: use $and, $or or $not`
    if (!isFact(name)) return `has an unknown fact, ${shown}: use ${factNames}`
    return isObject(test) ? testsFlaw(test, depth) : scalarFlaw(test, name)
  }

  function testsFlaw(test: Record<string, unknown>, depth: number): string | null {
    const entries = Object.entries(test)
    if (entries.length === 0) return 'must not contain an empty test'
    if (depth > maxDepth) return `must have at most ${maxDepth} levels`
    return firstFlaw(entries, ([operator, operand]) => {
      if (++tests > maxTests) return `must have at most ${maxTests} tests`
      if (operator === '$not')
        return isObject(operand) ? testsFlaw(operand, depth + 1) : 'needs an object of operators for $not'
      if (!Object.hasOwn(operators, operator))
        return `has an unknown operator, ${JSON.stringify(operator.slice(0, 100))}: use ${Object.keys(operators).join(', ')} or $not`
      return operandFlaw(operator as Operator, operand)
    })
  }
}

function operandFlaw(operator: Operator, operand: unknown): string | null {
  switch (operator) {
    case '$exists':
      return typeof operand === 'boolean' ? null : 'needs true or false for $exists'
    case '$in':
    case '$nin':
      if (!Array.isArray(operand) || operand.length === 0 || operand.length > maxTests)
        return `needs a list of 1 to ${maxTests} values for ${operator}`
      return firstFlaw(operand, one => scalarFlaw(one, operator))
    case '$eq':
    case '$ne':
      return scalarFlaw(operand, operator)
    default:
      if (typeof operand !== 'number' && typeof operand !== 'string')
        return `needs a number or a string for ${operator}`
      return scalarFlaw(operand, operator)
  }
}

function scalarFlaw(value: unknown, name: string): string | null {
  if (typeof value === 'string')
    return value.length <= maxLength ? null : `must have strings of at most ${maxLength} characters`
  const isScalar = value === null || typeof value === 'number' || typeof value === 'boolean'
  return isScalar ? null : `needs a string, number, boolean or null for ${name.slice(0, 100)}`
}

function firstFlaw<T>(items: readonly T[], flawOf: (item: T) => string | null): string | null {
  for (const item of items) {
    const flaw = flawOf(item)
    if (flaw !== null) return flaw
  }
  return null
}

type Operator = keyof typeof operators

/**
 * Whether the values of a call pass. Values of different types are never equal, nor before or after each
 * other; text is ordered by its UTF-16 code units.
 */
const operators = {
  $eq: (values: readonly Scalar[], operand: Scalar) => values.includes(operand),
  $ne: (values: readonly Scalar[], operand: Scalar) => !values.includes(operand),
  $gt: (values: readonly Scalar[], operand: Scalar) => values.some(value => isAfter(value, operand)),
  $gte: (values: readonly Scalar[], operand: Scalar) =>
    values.some(value => value === operand || isAfter(value, operand)),
  $lt: (values: readonly Scalar[], operand: Scalar) => values.some(value => isAfter(operand, value)),
  $lte: (values: readonly Scalar[], operand: Scalar) =>
    values.some(value => value === operand || isAfter(operand, value)),
  $in: (values: readonly Scalar[], operand: readonly Scalar[]) =>
    values.some(value => operand.includes(value)),
  $nin: (values: readonly Scalar[], operand: readonly Scalar[]) =>
    !values.some(value => operand.includes(value)),
  $exists: (values: readonly Scalar[], operand: boolean) => values.length > 0 === operand,
}

function isAfter(one: Scalar, other: Scalar): boolean {
  return one !== null && other !== null && typeof one === typeof other && one > other
}

/** Whether a call meets a condition in which `conditionFlaw` finds nothing. */
export function holds(condition: RouteCondition, facts: CallFacts): boolean {
  for (const name of Object.keys(condition)) if (!memberHolds(name, condition[name], facts)) return false
  return true
}

function memberHolds(name: string, test: unknown, facts: CallFacts): boolean {
  switch (name) {
    case '$and':
      return (test as RouteCondition[]).every(one => holds(one, facts))
    case '$or':
      return (test as RouteCondition[]).some(one => holds(one, facts))
    case '$not':
      return !holds(test as RouteCondition, facts)
    default:
      return isObject(test) ? passes(test, facts(name)) : facts(name).includes(test as Scalar)
  }
}

function passes(test: Record<string, unknown>, values: readonly Scalar[]): boolean {
  return Object.entries(test).every(([operator, operand]) =>
    operator === '$not'
      ? !passes(operand as Record<string, unknown>, values)
      : operators[operator as Operator](values, operand as never),
  )
}
