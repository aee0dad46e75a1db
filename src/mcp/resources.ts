import { ResourceNotFoundError } from '@modelcontextprotocol/server'
import { ServiceError } from '../errors.js'
import type { Caller, Service } from '../service.js'

const scheme = 'dataset://'
const mimeType = 'application/json'
/** An error repeats at most this much of an address. */
const uriLettersMax = 200

/** The datasets as resources of the protocol: `dataset://<name>` is the schema of one. */
export async function listResources(service: Service, caller: Caller) {
  const datasets = await service.listDatasets(caller)
  return {
    resources: datasets.map(({ name, title, description }) => ({
      uri: scheme + name,
      name,
      title,
      ...(description !== null && { description }),
      mimeType,
    })),
  }
}

/** The form of the addresses of resources. */
export const resourceTemplates = {
  resourceTemplates: [
    {
      uriTemplate: `${scheme}{name}`,
      name: 'dataset',
      title: 'Schema of a dataset',
      description: 'Columns with types, units, operators and descriptions; limits; examples.',
      mimeType,
    },
  ],
}

/** Reads `dataset://<name>`. A dataset without a grant looks like one that does not exist. */
export async function readResource(service: Service, caller: Caller, uri: string) {
  if (!uri.startsWith(scheme)) throw notFound(uri)
  try {
    const text = JSON.stringify(await service.describeDataset(caller, uri.slice(scheme.length)))
    return { contents: [{ uri, mimeType, text }] }
  } catch (cause) {
    const isMissing = cause instanceof ServiceError && cause.code === 'not_found'
    throw isMissing ? notFound(uri) : cause
  }
}

function notFound(uri: string): ResourceNotFoundError {
  return new ResourceNotFoundError(uri.slice(0, uriLettersMax))
}
