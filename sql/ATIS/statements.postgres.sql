-- floor() of an integer is double precision here, of which there is no mod(): stay numeric.
-- name: group_22
SELECT DISTINCT from_airport.time_zone_code,to_airport.time_zone_code,(floor(arrival_time/100.0)*60+mod(arrival_time,100)-floor(departure_time/100.0)*60-mod(departure_time,100)-time_elapsed)/60 AS time_zone_diff
  FROM flight,airport from_airport,airport to_airport
  WHERE flight.from_airport=from_airport.airport_code AND flight.to_airport=to_airport.airport_code
  GROUP BY from_airport.time_zone_code,to_airport.time_zone_code,arrival_time,departure_time,time_elapsed

-- name: group_23
SELECT DISTINCT from_airport.time_zone_code,to_airport.time_zone_code,
  mod((floor(arrival_time/100.0)*60+mod(arrival_time,100)-floor(departure_time/100.0)*60-mod(departure_time,100)-time_elapsed)/60+36,24)-12 AS time_zone_diff
  FROM flight,airport from_airport,airport to_airport
  WHERE flight.from_airport=from_airport.airport_code AND flight.to_airport=to_airport.airport_code
  AND mod((floor(arrival_time/100.0)*60+mod(arrival_time,100)-floor(departure_time/100.0)*60-mod(departure_time,100)-time_elapsed)/60+36,24)-12<10
