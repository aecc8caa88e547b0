import { DateTime } from 'luxon';

import { allFilters } from '../../nodes/CrmPlatform/api/customFields.ts';
import type { ListDescription } from '../../nodes/CrmPlatform/api/openapi/listing.ts';
import { apiValue } from '../../nodes/CrmPlatform/fields/convertValue.ts';
import { fieldNamed, type Field } from '../../nodes/CrmPlatform/fields/field.ts';

const zone = 'Europe/Berlin';

test.each<[kind: Field['kind'], value: unknown, converted: unknown]>([
	['date', [DateTime.fromISO('2026-03-01T12:00', { zone }), '2026-03-02'], ['2026-03-01', '2026-03-02']],
	['number', ['1', 2], [1, 2]],
	['boolean', ['true', false], [true, false]],
	['list', ['A', 'B'], ['A', 'B']],
])('a filter by several values of a custom field converts each like one value: %s', (kind, value, converted) => {
	const field = fieldNamed('custom_fields.x', { kind, customType: 'of_test' });
	const [filter] = allFilters({ filters: [] as Field[], customLists: ['of_test'] } as ListDescription, [field]);
	expect(apiValue(filter!, value, zone)).toEqual(converted);
});
