import { recordsName } from '../core/schemas/custom-objects.ts';
import { customFieldOf, options } from './custom-field-seeds.ts';
import type { Times } from './history.ts';
import type { Random } from './random.ts';

/** A custom object: the machines that the account has delivered. */
const machines = recordsName('machines');

export const customObjectSeed = () => ({
	key: 'machines',
	label_singular: 'Machine',
	label_plural: 'Machines',
	primary_field: 'serial_number',
	description: 'Machines that customers have bought, by serial number.',
});

export const machineFieldSeeds = [
	customFieldOf(machines, 'text', 'Serial Number', 'Number on the type plate.', { required: true, unique: true }),
	customFieldOf(machines, 'select', 'Model', 'What kind of machine it is.', {
		options: options('Compact', 'Standard', 'Heavy Duty'),
	}),
	customFieldOf(machines, 'date', 'Delivered On', 'When it was delivered.'),
	customFieldOf(machines, 'number', 'Operating Hours', 'At the latest inspection.'),
];

/** `history` gives the last record of a resource the ID in the examples. The last of `customFieldSeeds` has it already. */
const idOfLastField = 'cf_01jz8q4t6v9x2b5n7m3k1h0d4g';

export const machineFieldSeed = (i: number) => ({
	...(i === machineFieldSeeds.length - 1 && { id: idOfLastField }),
	...machineFieldSeeds[i],
	position: i,
});

/** @returns a function that creates the values of the next machine */
export const machineSeeds =
	(random: Random) =>
	(i: number, { createdAt }: Times): Record<string, unknown> => {
		const serialNumber = `M-${40_000 + 7 * i}`;
		return {
			title: serialNumber,
			custom_fields: {
				serial_number: serialNumber,
				model: random.pick(['compact', 'standard', 'heavy_duty']),
				delivered_on: createdAt.slice(0, 10),
				operating_hours: random.below(9000),
			},
		};
	};
