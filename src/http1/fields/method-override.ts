// Fields that name another method than that of the request: Rails, Laravel, Symfony and ASP.NET take them.

/** Whether a field has such a name, in any case, and with any character in place of its hyphens. */
export function isMethodOverride(name: string): boolean {
  return lengths.has(name.length) && override.test(name)
}

const override = /^x[^a-z0-9](?:http[^a-z0-9]method(?:[^a-z0-9]override)?|method[^a-z0-9]override)$/i
const lengths: ReadonlySet<number> = new Set(
  ['x-http-method', 'x-method-override', 'x-http-method-override'].map(({ length }) => length),
)
