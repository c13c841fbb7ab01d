// Parts of the CEL package that it does not export.

import { Environment } from '@marcbachmann/cel-js'

interface Checker {
  readonly registry: object
  getType(name: string): unknown
}

/** Of its registry, which keeps types and functions, and of its evaluator. */
export const prototypes = prototypesOf(new Environment())

/** Those that come with the package; a macro is one. */
export const functionNames: ReadonlySet<string> = new Set(
  new Environment({ enableOptionalTypes: true }).getDefinitions().functions.map(({ name }) => name),
)

/** Exposed only to macros. */
function prototypesOf(environment: Environment): { readonly registry: object; readonly evaluator: object } {
  let [registry, evaluator]: object[] = []
  environment
    .registerFunction('expose(ast): bool', () => ({
      async: false,
      typeCheck(checker: Checker) {
        registry = Object.getPrototypeOf(checker.registry)
        return checker.getType('bool')
      },
      evaluate(running: object) {
        evaluator = Object.getPrototypeOf(running)
        return true
      },
    }))
    .evaluate('expose(true)')
  return { registry: registry!, evaluator: evaluator! }
}
