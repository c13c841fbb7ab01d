// The model in the query of a Realtime handshake.

/** Returns the parameter `model` of a path; null for none or an overlong one. */
export function modelInQuery(path: string): string | null {
  const at = path.indexOf('?')
  const model = at === -1 ? null : new URLSearchParams(path.slice(at)).get('model')
  return model === null || model === '' || model.length > maxLength ? null : model
}

const maxLength = 256
