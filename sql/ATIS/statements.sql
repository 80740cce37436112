-- name: insert
INSERT INTO {table} VALUES ({values})

-- name: join_1
SELECT city.city_name,state.state_name,city.city_code FROM city,state
  WHERE city.city_code='MATL' AND city.state_code=state.state_code

-- name: join_2
SELECT city.city_name,state.state_name,city.city_code FROM state,city
  WHERE state.state_code=city.state_code

-- name: join_3
SELECT month_name.month_name,day_name.day_name FROM month_name,day_name
  WHERE month_name.month_number=day_name.day_code

-- name: join_4
SELECT month_name.month_name,day_name.day_name FROM month_name,day_name
  WHERE month_name.month_number=day_name.day_code AND day_name.day_code>=4

-- name: join_5
SELECT flight.flight_code,aircraft.aircraft_type FROM flight,aircraft
  WHERE flight.aircraft_code=aircraft.aircraft_code

-- name: select_join
SELECT airline.airline_name,aircraft.aircraft_type FROM aircraft,airline,flight
  WHERE flight.aircraft_code=aircraft.aircraft_code AND flight.airline_code=airline.airline_code

-- name: select_key_prefix_join
SELECT fare.fare_code FROM restrict_carrier,airline,fare
  WHERE restrict_carrier.airline_code=airline.airline_code
  AND fare.restrict_code=restrict_carrier.restrict_code

-- name: distinct_1
SELECT DISTINCT category FROM aircraft

-- name: distinct_2
SELECT DISTINCT from_airport FROM flight

-- name: distinct_3
SELECT DISTINCT aircraft_code FROM flight

-- name: distinct_4
SELECT DISTINCT * FROM fare

-- name: distinct_5
SELECT DISTINCT flight_code FROM flight_fare

-- name: distinct_6
SELECT DISTINCT flight.flight_code,aircraft.aircraft_type FROM flight,aircraft
  WHERE flight.aircraft_code=aircraft.aircraft_code

-- name: distinct_7
SELECT DISTINCT airline.airline_name,aircraft.aircraft_type FROM aircraft,airline,flight
  WHERE flight.aircraft_code=aircraft.aircraft_code AND flight.airline_code=airline.airline_code

-- name: distinct_8
SELECT DISTINCT airline.airline_name,aircraft.aircraft_type FROM flight,aircraft,airline
  WHERE flight.aircraft_code=aircraft.aircraft_code AND flight.airline_code=airline.airline_code

-- name: group_01
SELECT day_name.day_name,day_name.day_code,count(*) FROM flight_day,day_name
  WHERE day_name.day_code=flight_day.day_code
  GROUP BY day_name.day_name,day_name.day_code ORDER BY day_name.day_code

-- name: group_02
SELECT day_name.day_name,count(*) FROM flight_day,day_name
  WHERE flight_day.day_code=day_name.day_code GROUP BY day_name.day_name

-- name: group_03
SELECT month_name.month_name,day_name.day_name FROM month_name,day_name
  WHERE month_name.month_number=day_name.day_code AND day_name.day_code>3
  GROUP BY month_name.month_name,day_name.day_name

-- name: group_04
SELECT day_name.day_name,flight_day.day_code,count(*) FROM flight_day,day_name
  WHERE day_name.day_code=flight_day.day_code
  GROUP BY day_name.day_name,flight_day.day_code ORDER BY flight_day.day_code

-- name: group_05
SELECT sum(engines) FROM aircraft

-- name: group_06
SELECT avg(engines) FROM aircraft

-- name: group_07
SELECT avg(engines) FROM aircraft WHERE engines>0

-- name: group_08
SELECT count(*),min(pay_load),max(pay_load) FROM aircraft WHERE pay_load>0

-- name: group_09
SELECT min(flight.flight_code),min(flight.flight_code) FROM flight

-- name: group_10
SELECT min(from_airport),min(to_airport) FROM flight

-- name: group_11
SELECT count(*) FROM aircraft WHERE pay_load>10000

-- name: group_12
SELECT count(*) FROM aircraft WHERE pay_load<>0

-- name: group_13
SELECT count(*) FROM flight WHERE flight_code>=112793

-- name: group_15
SELECT std(engines) FROM aircraft

-- name: group_16
SELECT from_airport,to_airport,avg(time_elapsed) FROM flight
  WHERE from_airport='ATL' AND to_airport='BOS' GROUP BY from_airport,to_airport

-- name: group_17
SELECT city_code,avg(ground_fare) FROM ground_service
  WHERE ground_fare<>0 GROUP BY city_code

-- name: group_18
SELECT count(*),city_code FROM ground_service GROUP BY city_code

-- name: group_19
SELECT category,count(*) AS quantity FROM aircraft WHERE engines=2
  GROUP BY category HAVING quantity>4

-- name: group_20
SELECT category,count(*) FROM aircraft WHERE engines=2
  GROUP BY category HAVING count(*)>4

-- name: group_21
SELECT flight_number,range_miles,fare_class FROM aircraft,flight,flight_class
  WHERE flight.flight_code=flight_class.flight_code
  AND flight.aircraft_code=aircraft.aircraft_code
  AND range_miles<>0 AND (stops=1 OR stops=2)
  GROUP BY flight_number,range_miles,fare_class

-- name: group_22
SELECT DISTINCT from_airport.time_zone_code,to_airport.time_zone_code,(floor(arrival_time/100)*60+mod(arrival_time,100)-floor(departure_time/100)*60-mod(departure_time,100)-time_elapsed)/60 AS time_zone_diff
  FROM flight,airport from_airport,airport to_airport
  WHERE flight.from_airport=from_airport.airport_code AND flight.to_airport=to_airport.airport_code
  GROUP BY from_airport.time_zone_code,to_airport.time_zone_code,arrival_time,departure_time,time_elapsed

-- name: group_23
SELECT DISTINCT from_airport.time_zone_code,to_airport.time_zone_code,
  mod((floor(arrival_time/100)*60+mod(arrival_time,100)-floor(departure_time/100)*60-mod(departure_time,100)-time_elapsed)/60+36,24)-12 AS time_zone_diff
  FROM flight,airport from_airport,airport to_airport
  WHERE flight.from_airport=from_airport.airport_code AND flight.to_airport=to_airport.airport_code
  AND mod((floor(arrival_time/100)*60+mod(arrival_time,100)-floor(departure_time/100)*60-mod(departure_time,100)-time_elapsed)/60+36,24)-12<10

-- name: group_24
SELECT from_airport,to_airport,range_miles,time_elapsed FROM aircraft,flight
  WHERE aircraft.aircraft_code=flight.aircraft_code
  AND to_airport NOT LIKE from_airport AND range_miles<>0 AND time_elapsed<>0
  GROUP BY from_airport,to_airport,range_miles,time_elapsed

-- name: group_25
SELECT airport.country_name,state.state_name,city.city_name,airport_service.direction
  FROM airport_service,state,airport,city
  WHERE airport_service.city_code=city.city_code
  AND airport_service.airport_code=airport.airport_code
  AND state.state_code=airport.state_code AND state.state_code=city.state_code
  AND airport.state_code=city.state_code
  AND airport.country_name=city.country_name AND airport.country_name=state.country_name
  AND city.time_zone_code=airport.time_zone_code
  GROUP BY airport.country_name,state.state_name,city.city_name,airport_service.direction
  ORDER BY state_name

-- name: group_26
SELECT airport.country_name,state.state_name,city.city_name,airport_service.direction
  FROM airport_service,state,airport,city
  WHERE airport_service.city_code=city.city_code
  AND airport_service.airport_code=airport.airport_code
  AND state.state_code=airport.state_code AND state.state_code=city.state_code
  AND airport.state_code=city.state_code
  AND airport.country_name=city.country_name AND airport.country_name=state.country_name
  AND city.time_zone_code=airport.time_zone_code
  GROUP BY airport.country_name,state.state_name,city.city_name,airport_service.direction
  ORDER BY state_name DESC

-- name: group_28
SELECT from_airport,to_airport,fare.fare_class,night,one_way_cost,rnd_trip_cost,class_days
  FROM compound_class,fare
  WHERE compound_class.fare_class=fare.fare_class
  AND one_way_cost BETWEEN 280 AND 825 AND from_airport='SFO' AND to_airport='DFW'
  GROUP BY from_airport,to_airport,fare.fare_class,night,one_way_cost,rnd_trip_cost,class_days
  ORDER BY one_way_cost

-- name: group_29
SELECT engines,category,cruising_speed,from_airport,to_airport FROM aircraft,flight
  WHERE category='JET' AND engines>=1
  AND aircraft.aircraft_code=flight.aircraft_code
  AND to_airport NOT LIKE from_airport AND stops>0
  GROUP BY engines,category,cruising_speed,from_airport,to_airport ORDER BY engines DESC
