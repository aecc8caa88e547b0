import { isGone } from '../../nodes/CrmPlatform/sync/deletedRecords';

const record = (members: object) => ({ id: 'r1', ...members }) as Parameters<typeof isGone>[0];

test.each([
	{ deleted_at: '2026-01-01T00:00:00Z' }, { archived_at: 1767225600 }, { archived: true }, { deleted: 1 }, { is_deleted: 'true' },
	{ status: 'deactivated' }, { state: 'Deleted' }, { status: 'trashed' },
])('%j was deleted already', (members) => expect(isGone(record(members))).toBe(true));

test.each([
	{ deleted_at: null },
	{ archived: false },
	{ archived: 0 },
	{ deleted: '0' },
	{ is_deleted: 'false' },
	{ archived: 'no' },
	{ trashed: 'N' },
	{ deleted_at: 0 },
	{ deleted_at: '0000-00-00 00:00:00' },
	{ deleted_at: '' },
	{ status: 'inactive' },
	{ active: false },
])('%j was not deleted', (members) => expect(isGone(record(members))).toBe(false));
