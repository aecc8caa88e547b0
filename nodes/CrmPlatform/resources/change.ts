import type { Resource } from '../model';
import { undo } from '../operations/undo';
import { activity } from './activity';
import { company } from './company';
import { contact } from './contact';
import { customObjectRecord } from './customObjectRecord';
import { deal } from './deal';
import { note } from './note';
import { task } from './task';
import { ticket } from './ticket';

export const change: Resource = {
	name: 'Change',
	value: 'change',
	path: '/events',
	operations: [undo([activity, company, contact, customObjectRecord, deal, note, task, ticket])],
};
