import type { Setup } from './node-runs.ts';

/** Set-ups of nodes whose operation has been chosen, and nothing else. */
export const openedNodes =
	(service: { readonly credential: Setup['credential'] }) =>
	(resource = 'contact', operation = 'create') => ({ credential: service.credential, parameters: { resource, operation } });

export const fieldsById = <Field extends { id: string }>(fields: Field[]) =>
	Object.fromEntries(fields.map((field) => [field.id, field]));
