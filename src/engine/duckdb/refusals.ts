import { ServiceError } from '../../errors.js'

/** The error of a version that is not read any more. */
export function quarantined(): ServiceError {
  const detail = 'This dataset is withdrawn for now: a part of it is damaged.'
  return new ServiceError('service_unavailable', detail, { retryAfterSeconds: 60 })
}

/** The error of a query that a stop ends. */
export function stopping(): ServiceError {
  const detail = 'The service is stopping.'
  return new ServiceError('service_unavailable', detail, { retryAfterSeconds: 5 })
}
