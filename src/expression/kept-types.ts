// The CEL package never forgets a type that it has seen, nor the name of a function that was called. This
// bounds how many there can be.

import { functionNames, prototypes } from './package-internals.ts'

/** Lists, maps and optionals nest so deep: types further in are not told apart, nor of keys but text. */
const maxNesting = 2
/** No function has it: all that do not exist share it. */
const unknown = ''

interface Type {
  readonly valueType?: Type
}

interface Registry {
  getType(name: string): Type
  getListType(items: Type): Type
  getMapType(keys: Type, values: Type): Type
  getOptionalType(value: Type): Type
  functionCandidates(isMethod: boolean, name: string, count: number): unknown
}

const { getListType, getMapType, getOptionalType, functionCandidates } = prototypes.registry as Registry

const bounded: Omit<Registry, 'getType'> & ThisType<Registry> = {
  getListType(items) {
    return getListType.call(this, shallow(this, items))
  },
  getMapType(keys, values) {
    const text = this.getType('string')
    return getMapType.call(this, keys === text ? text : this.getType('dyn'), shallow(this, values))
  },
  getOptionalType(value) {
    return getOptionalType.call(this, shallow(this, value))
  },
  functionCandidates(isMethod, name, count) {
    return functionCandidates.call(this, isMethod, functionNames.has(name) ? name : unknown, count)
  },
}
Object.assign(prototypes.registry, bounded)

function shallow(registry: Registry, type: Type): Type {
  return nestingOf(type) < maxNesting ? type : registry.getType('dyn')
}

function nestingOf({ valueType }: Type): number {
  return valueType === undefined ? 0 : 1 + nestingOf(valueType)
}
