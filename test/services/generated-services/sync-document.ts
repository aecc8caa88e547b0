/** The differences between services that a sync writes to. */
export interface SyncDialect {
	update: 'patch' | 'put';
	/** Where a record's version is: in a field of it and the ETag, in the ETag only, or nowhere. */
	versions: 'field' | 'etag' | 'none';
	takesIfMatch: boolean;
	batch?: { maximum: number; takesVersion: boolean; results: 'all' | 'fewer' } | undefined;
	hasFilters: boolean;
	hasKeys: boolean;
	/** Whether a conflict says which record has the value. */
	namesConflicts: boolean;
	hasTotal: boolean;
	pageSize: number;
	/** Whether it ignores a filter by team. */
	ignoresTeam?: boolean;
	/** Whether it answers a change of one record with another record. */
	answersOther?: boolean;
	/** Whether a deleted record stays in the list, with the time of its deletion. */
	deactivates?: boolean;
}

/** What most services do. */
export const plainDialect: SyncDialect = {
	update: 'patch',
	versions: 'field',
	takesIfMatch: true,
	batch: undefined,
	hasFilters: true,
	hasKeys: true,
	namesConflicts: true,
	hasTotal: true,
	pageSize: 100,
};

export const texts = ['external_id', 'email', 'last_name', 'phone', 'note', 'team'];
export const unique = ['external_id', 'email'];

/** The API description of the service. */
export function syncDocument({ update, takesIfMatch, batch, hasFilters, hasKeys, versions, pageSize }: SyncDialect): object {
	const header = (name: string) => ({ name, in: 'header', schema: { type: 'string' } });
	const filter = (name: string, schema: object = { type: 'string' }) => ({ name, in: 'query', schema });
	const keys = hasKeys ? [header('Idempotency-Key')] : [];
	const conditions = takesIfMatch ? [header('If-Match')] : [];
	const properties = Object.fromEntries(
		texts.map((name) => [name, { type: ['string', 'null'], ...(name === 'email' && { 'x-lower-case': true }) }]),
	);
	const version = versions === 'field' ? { version: { type: 'integer', readOnly: true } } : {};
	const fields = { type: 'object', properties };
	const setByService = { id: { type: 'string', readOnly: true }, deleted_at: { type: ['string', 'null'], readOnly: true }, ...version };
	const contact = { type: 'object', properties: { ...setByService, ...properties } };
	const json = (schema: object) => ({ 'application/json': { schema } });
	const writes = (operationId: string, more: object[] = [], hasBody = true) => ({
		operationId,
		parameters: [...keys, ...more],
		...(hasBody && { requestBody: { content: json(fields) } }),
		...(batch && { 'x-batch': `${operationId}-batch` }),
		responses: { '200': { description: '', content: json(contact) } },
	});
	const batches = ['create', 'update', 'delete'].map((verb) => {
		const itemVersion = batch?.takesVersion ? { version: { type: 'integer' } } : {};
		const item = { type: 'object', properties: { ...properties, id: { type: 'string' }, ...itemVersion } };
		const items = { type: 'object', properties: { items: { type: 'array', maxItems: batch?.maximum, items: item } } };
		const post = { operationId: `${verb}-batch`, parameters: keys, requestBody: { content: json(items) } };
		return [`/v1/contacts/batch/${verb}`, { post }];
	});
	const lists = { type: 'array', items: { type: 'string' } };
	return {
		openapi: '3.1.0',
		paths: {
			'/v1/contacts': {
				get: {
					operationId: 'list',
					parameters: [
						filter('cursor'),
						filter('limit', { type: 'integer', maximum: pageSize }),
						filter('team'),
						...(hasFilters ? ['ids', 'external_id', 'email'].map((name) => ({ ...filter(name, lists), explode: false })) : []),
					],
					responses: { '200': { description: '', content: json({ type: 'object', properties: { data: { type: 'array', items: contact } } }) } },
				},
				post: writes('create'),
				put: { ...writes('upsert', [{ ...filter('match_on', { type: 'string', enum: unique }), required: true }]), 'x-batch': undefined },
			},
			'/v1/contacts/{id}': {
				[update]: writes('update', conditions),
				delete: writes('delete', conditions, false),
			},
			...(batch ? Object.fromEntries(batches) : {}),
		},
	};
}
